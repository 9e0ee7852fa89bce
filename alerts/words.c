#include "alerts/words.h"

#include <string.h>

#include "monitor/text.h"

#define FULL	"..."

bool
words_next(const char **at, char *word, size_t size)
{
	size_t	n;

	*at += strspn(*at, " ");
	if (**at == '\0' || strcmp(*at, FULL) == 0)
		return (false);
	n = strcspn(*at, " ");
	text_copy(word, n + 1 < size ? n + 1 : size, *at);
	*at += n;
	return (true);
}

bool
words_has(const char *list, const char *word)
{
	size_t		 n = strlen(word);
	const char	*at = list;

	for (; n > 0 && (at = strstr(at, word)) != NULL; at += n)
		if ((at == list || at[-1] == ' ') &&
		    (at[n] == ' ' || at[n] == '\0'))
			return (true);
	return (false);
}

bool
words_add(char *list, size_t size, const char *word)
{
	size_t	have = strlen(list);
	size_t	room = have + (have > 0) + sizeof FULL + 1;

	if (word[0] == '\0' || words_has(list, word) || words_has(list, FULL))
		return (false);
	if (room + strlen(word) > size) {
		if (room <= size + 1) {
			text_append(list, size, have > 0 ? " " : "");
			text_append(list, size, FULL);
		}
		return (false);
	}
	if (have > 0)
		text_append(list, size, " ");
	return (text_append(list, size, word));
}
