#ifndef CTL_EXPLAIN_H
#define CTL_EXPLAIN_H

/*
 * The subcommand "explain": argv[0] is its name.  Returns the exit code: 0,
 * 64 usage, 65 no reply found in the message, 66 a file that cannot be read,
 * 74 the output could not be written.
 */
int	 explain_main(int argc, char **argv);

#endif
