#ifndef PLAYGROUND_H
#define PLAYGROUND_H

/* A directory for worlds, in memory where the machine has such a place. */
const char	*playground_make(void);
void		 playground_clear(void);	/* empties it */
void		 playground_remove(void);

#endif
