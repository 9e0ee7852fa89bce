#include "mailboxes/folder_name.h"

#include <string.h>
#include <strings.h>

#include "monitor/mem.h"

/* Folders by what servers without RFC 6154 call them. */
static const struct {
	const char	*name;
	const char	*role;
} folder_names[] = {
	{ "Junk", "\\Junk" },
	{ "Junk E-mail", "\\Junk" },
	{ "Junk Email", "\\Junk" },
	{ "Junk Mail", "\\Junk" },
	{ "Junk-E-Mail", "\\Junk" },
	{ "Spam", "\\Junk" },
	{ "Spamverdacht", "\\Junk" },
	{ "Unerw&APw-nscht", "\\Junk" },
	{ "Courrier ind&AOk-sirable", "\\Junk" },
	{ "Ind&AOk-sirables", "\\Junk" },
	{ "Correo no deseado", "\\Junk" },
	{ "Correo electr&APM-nico no deseado", "\\Junk" },
	{ "Lixo Eletr&APQ-nico", "\\Junk" },
	{ "Posta indesiderata", "\\Junk" },
	{ "Ongewenste e-mail", "\\Junk" },
	{ "Skr&AOQ-ppost", "\\Junk" },
	{ "Bulk Mail", "\\Junk" },
	{ "Bulk", "\\Junk" },
	{ "Trash", "\\Trash" },
	{ "Deleted Items", "\\Trash" },
	{ "Deleted Messages", "\\Trash" },
};

const char *
folder_role(const char *name, size_t len, char delimiter)
{
	size_t	i, from = len;

	while (from > 0 && name[from - 1] != delimiter)
		from--;
	for (i = 0; i < NITEMS(folder_names); i++)
		if (strlen(folder_names[i].name) == len - from &&
		    strncasecmp(folder_names[i].name, name + from,
		    len - from) == 0)
			return (folder_names[i].role);
	return (NULL);
}
