#ifndef STEP_H
#define STEP_H

#include "mailboxes/mailbox.h"
#include "mailboxes/watch.h"

/*
 * One blocking step of one mailbox, as a pool thread runs it: the driver's
 * call, what it finds matched and sent to the monitor as ARRIVAL and MARK.
 */

#define STEP_ARRIVED	16

struct step {
	/* Set by the loop, which does not touch it while the step runs. */
	const struct mailbox_driver	*driver;	/* borrowed */
	struct mailbox_box		*box;		/* borrowed */
	struct match_rules		 rules;
	uint32_t			 id;
	enum watch_step			 what;
	char				*secret;	/* owned; wiped when used */
	struct mailbox_clean		*cleans;	/* owned list */
	size_t				 clean_count;	/* in the end: not done */
	bool				 expecting;	/* look into bodies */
	const char			*authserv_id;	/* borrowed */

	/* What came of it. */
	enum watch_result		 result;
	struct mailbox_trouble		 trouble;
	struct {
		char	token[TOKEN_SIZE];
		bool	first;		/* in the first folder */
	}				 arrived[STEP_ARRIVED];
	size_t				 arrived_count;
	unsigned			 ignored;
	char				 warning[OUTCOME_HOST];	/* or "" */
	bool				 elsewhere;	/* another folder was
							 * touched: look again */
};

/* Takes the secret; of the cleans those remain that a lost session left. */
void	 step_run(struct step *);

/* Tells the monitor what became of one removal. */
void	 step_cleaned(uint32_t id, const struct mailbox_clean *,
	    enum clean_state);

/* Frees the cleans that remain and wipes the secret. */
void	 step_clear(struct step *);

#endif
