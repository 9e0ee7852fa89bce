#include "mailboxes/charset.h"

#include <iconv.h>
#include <string.h>
#include <strings.h>

#include "monitor/mem.h"

#define MISTAKES	1000	/* each costs a call */

static const struct set {
	const char	*name;
	const char	*libc;		/* the same or one that has more */
} sets[] = {
	{ "iso-2022-jp",	"ISO-2022-JP" },
	{ "shift_jis",		"CP932" },
	{ "shift-jis",		"CP932" },
	{ "x-sjis",		"CP932" },
	{ "windows-31j",	"CP932" },
	{ "euc-jp",		"EUC-JP" },
	{ "gb2312",		"GB18030" },
	{ "gbk",		"GB18030" },
	{ "gb18030",		"GB18030" },
	{ "big5",		"BIG5" },
	{ "euc-kr",		"CP949" },
	{ "ks_c_5601-1987",	"CP949" },
	{ "koi8-r",		"KOI8-R" },
	{ "koi8-u",		"KOI8-U" },
	{ "windows-1250",	"CP1250" },
	{ "windows-1251",	"CP1251" },
	{ "windows-1252",	"CP1252" },
	{ "windows-1253",	"CP1253" },
	{ "windows-1254",	"CP1254" },
	{ "windows-1255",	"CP1255" },
	{ "iso-8859-1",		"CP1252" },
	{ "iso-8859-2",		"ISO-8859-2" },
	{ "iso-8859-5",		"ISO-8859-5" },
	{ "iso-8859-7",		"ISO-8859-7" },
	{ "iso-8859-8",		"ISO-8859-8" },
	{ "iso-8859-9",		"ISO-8859-9" },
	{ "iso-8859-15",	"ISO-8859-15" },
};

static iconv_t
open_set(const char *set)
{
	for (size_t i = 0; i < NITEMS(sets); i++)
		if (strcasecmp(set, sets[i].name) == 0)
			return (iconv_open("UTF-8", sets[i].libc));
	return ((iconv_t)-1);
}

size_t
charset_utf8(const char *set, char *src, size_t len, char *dst)
{
	iconv_t	 c = open_set(set);
	char	*out = dst;
	size_t	 room = CHARSET_GROWS * len;

	for (int i = 0; c != (iconv_t)-1 && i < MISTAKES; i++) {
		if (iconv(c, &src, &len, &out, &room) != (size_t)-1 ||
		    len == 0 || room == 0)
			break;
		*out++ = '?';
		src++, len--, room--;
	}
	if (c != (iconv_t)-1)
		iconv_close(c);
	if (len > room)
		len = room;
	memcpy(out, src, len);
	out[len] = '\0';
	return ((size_t)(out - dst) + len);
}
