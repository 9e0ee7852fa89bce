#include "mailboxes/folder_name.h"

#include <string.h>
#include <strings.h>

#include "mailboxes/imap_name.h"
#include "monitor/mem.h"

/* Folders by what servers without RFC 6154 call them, and their users. */
static const struct {
	const char	*name;		/* in UTF-8 */
	const char	*role;
} folder_names[] = {
	{ "Junk", "\\Junk" },
	{ "Junk E-mail", "\\Junk" },
	{ "Junk Email", "\\Junk" },
	{ "Junk Mail", "\\Junk" },
	{ "Junk-E-Mail", "\\Junk" },
	{ "Junkmail", "\\Junk" },
	{ "Spam", "\\Junk" },
	{ "Bulk Mail", "\\Junk" },
	{ "Bulk", "\\Junk" },
	{ "Quarantine", "\\Junk" },
	{ "Spamverdacht", "\\Junk" },
	{ "Unerwünscht", "\\Junk" },
	{ "Unerwünschte Werbung", "\\Junk" },
	{ "Courrier indésirable", "\\Junk" },
	{ "Indésirables", "\\Junk" },
	{ "Pourriel", "\\Junk" },
	{ "Correo no deseado", "\\Junk" },
	{ "Correo electrónico no deseado", "\\Junk" },
	{ "Correo basura", "\\Junk" },
	{ "Lixo Eletrônico", "\\Junk" },
	{ "Lixo Eletrónico", "\\Junk" },
	{ "Posta indesiderata", "\\Junk" },
	{ "Ongewenste e-mail", "\\Junk" },
	{ "Ongewenst", "\\Junk" },
	{ "Quarantaine", "\\Junk" },
	{ "Skräppost", "\\Junk" },
	{ "Uønsket mail", "\\Junk" },
	{ "Uønsket e-post", "\\Junk" },
	{ "Søppelpost", "\\Junk" },
	{ "Roskaposti", "\\Junk" },
	{ "Wiadomości-śmieci", "\\Junk" },
	{ "Nevyžádaná pošta", "\\Junk" },
	{ "Levélszemét", "\\Junk" },
	{ "Önemsiz E-posta", "\\Junk" },
	{ "Önemsiz", "\\Junk" },
	{ "Нежелательная почта", "\\Junk" },
	{ "Спам", "\\Junk" },
	{ "垃圾邮件", "\\Junk" },
	{ "垃圾郵件", "\\Junk" },
	{ "迷惑メール", "\\Junk" },
	{ "스팸", "\\Junk" },
	{ "스팸 메일", "\\Junk" },
	{ "정크 메일", "\\Junk" },
	{ "Trash", "\\Trash" },
	{ "Deleted", "\\Trash" },
	{ "Deleted Items", "\\Trash" },
	{ "Deleted Messages", "\\Trash" },
	{ "Papierkorb", "\\Trash" },
	{ "Gelöschte Elemente", "\\Trash" },
	{ "Gelöschte Objekte", "\\Trash" },
	{ "Corbeille", "\\Trash" },
	{ "Éléments supprimés", "\\Trash" },
	{ "Elementos eliminados", "\\Trash" },
	{ "Papelera", "\\Trash" },
	{ "Lixeira", "\\Trash" },
	{ "Itens Excluídos", "\\Trash" },
	{ "Posta eliminata", "\\Trash" },
	{ "Cestino", "\\Trash" },
	{ "Verwijderde items", "\\Trash" },
	{ "Prullenbak", "\\Trash" },
	{ "Papperskorgen", "\\Trash" },
	{ "Papirkurv", "\\Trash" },
	{ "Roskakori", "\\Trash" },
	{ "Kosz", "\\Trash" },
	{ "Koš", "\\Trash" },
	{ "Корзина", "\\Trash" },
	{ "Удаленные", "\\Trash" },
	{ "已删除邮件", "\\Trash" },
	{ "已刪除的郵件", "\\Trash" },
	{ "ごみ箱", "\\Trash" },
	{ "휴지통", "\\Trash" },
};

/* Where the last part of the name begins. */
static size_t
last_part(const char *name, size_t len, char delimiter)
{
	while (len > 0 && name[len - 1] != delimiter)
		len--;
	return (len);
}

/* Capitals are as good as small letters, but only in ASCII. */
const char *
folder_role(const char *name, size_t len, char delimiter)
{
	size_t		 i, from = last_part(name, len, delimiter);
	char		*plain = imap_name_decode(name + from, len - from);
	const char	*role = NULL;

	for (i = 0; i < NITEMS(folder_names) && role == NULL; i++)
		if (strcasecmp(folder_names[i].name, plain) == 0)
			role = folder_names[i].role;
	mem_free(plain);
	return (role);
}

bool
folder_is_near(const char *name, size_t len, char delimiter)
{
	size_t	from = last_part(name, len, delimiter);

	return (from == 0 ||
	    (from == 6 && strncasecmp(name, "INBOX", 5) == 0));
}
