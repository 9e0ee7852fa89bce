#include "mailboxes/imap_session.h"

#include <string.h>

#include "mailboxes/date.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * A whole mail comes in parts that the filter lets through: its header, then
 * pieces of its text.
 */
#define PIECE		61440U
#define PIECES		4

static struct mailimap_section *
header_section(bool whole)
{
	clist	*names;
	size_t	 i;

	if (whole)
		return (mailimap_section_new_header());
	if ((names = clist_new()) == NULL)
		panic("out of memory");
	for (i = 0; i < match_field_count; i++)
		if (clist_append(names, mem_strdup(match_fields[i])) < 0)
			panic("out of memory");
	return (mailimap_section_new_header_fields(
	    mailimap_header_list_new(names)));
}

/* UID INTERNALDATE BODY.PEEK[...]<0.n>; never a flag is set by looking. */
static struct mailimap_fetch_type *
fetch_type(bool body, bool whole_header)
{
	struct mailimap_fetch_type	*type;
	struct mailimap_fetch_att	*section;

	type = mailimap_fetch_type_new_fetch_att_list_empty();
	section = body ?
	    mailimap_fetch_att_new_body_peek_section_partial(
	    mailimap_section_new_text(), 0, IMAP_BODY_MAX) :
	    mailimap_fetch_att_new_body_peek_section_partial(
	    header_section(whole_header), 0, IMAP_HEAD_MAX);
	if (type == NULL || section == NULL)
		panic("out of memory");
	mailimap_fetch_type_new_fetch_att_list_add(type,
	    mailimap_fetch_att_new_uid());
	if (!body)
		mailimap_fetch_type_new_fetch_att_list_add(type,
		    mailimap_fetch_att_new_internaldate());
	mailimap_fetch_type_new_fetch_att_list_add(type, section);
	return (type);
}

/* The library keeps what a long line needed; an idle mailbox should not. */
static void
shrink(struct mailbox_session *s)
{
	MMAPString	*fresh;

	if (s->imap->imap_stream_buffer->allocated_len <= 4096 ||
	    (fresh = mmap_string_new("")) == NULL)
		return;
	mmap_string_free(s->imap->imap_stream_buffer);
	s->imap->imap_stream_buffer = fresh;
}

static int
fetch(struct mailbox_box *box, struct mailimap_set *set, bool by_uid,
    struct mailimap_fetch_type *type, clist **out,
    struct mailbox_trouble *trouble)
{
	struct mailbox_session	*s = box->session;
	int			 r;

	*out = NULL;
	imap_arm(box, IMAP_WANT_FETCH, IMAP_FETCH_BUDGET);
	/* The library frees the list of a FETCH that failed, and leaves it
	 * in *out; it takes one that brought something for a success. */
	r = by_uid ? mailimap_uid_fetch(s->imap, set, type, out) :
	    mailimap_fetch(s->imap, set, type, out);
	mailimap_set_free(set);
	mailimap_fetch_type_free(type);
	if (r != MAILIMAP_NO_ERROR)
		*out = NULL;
	r = imap_result(box, r, IMAP_FETCHING, trouble);
	if (r >= 0)
		shrink(s);
	if (r != 0 && *out != NULL) {
		mailimap_fetch_list_free(*out);
		*out = NULL;
	}
	return (r);
}

int
imap_fetch(struct mailbox_box *box, struct mailimap_set *set, bool body,
    clist **out, struct mailbox_trouble *trouble)
{
	return (fetch(box, set, true,
	    fetch_type(body, box->session->no_header_fields), out, trouble));
}

static int64_t
to_ms(const struct mailimap_date_time *d)
{
	/* The filter wrote it, in UTC and in bounds. */
	char	buf[DATE_IMAP];
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr",
		"May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

	if (d->dt_month < 1 || d->dt_month > 12)
		return (0);
	buf[0] = '\0';
	text_appendf(buf, sizeof buf, "%02d-%s-%04d %02d:%02d:%02d +0000",
	    d->dt_day, months[d->dt_month - 1], d->dt_year, d->dt_hour,
	    d->dt_min, d->dt_sec);
	return (date_imap_ms(buf, strlen(buf)));
}

void
imap_fetched(const struct mailimap_msg_att *msg, struct imap_fetched *out)
{
	clistiter	*i;

	*out = (struct imap_fetched){ .data = NULL };
	for (i = clist_begin(msg->att_list); i != NULL; i = clist_next(i)) {
		const struct mailimap_msg_att_item	*item =
		    clist_content(i);
		const struct mailimap_msg_att_static	*att;

		if (item->att_type != MAILIMAP_MSG_ATT_ITEM_STATIC)
			continue;
		att = item->att_data.att_static;
		switch (att->att_type) {
		case MAILIMAP_MSG_ATT_UID:
			out->uid = att->att_data.att_uid;
			break;
		case MAILIMAP_MSG_ATT_INTERNALDATE:
			out->internal_ms =
			    to_ms(att->att_data.att_internal_date);
			break;
		case MAILIMAP_MSG_ATT_BODY_SECTION:
			out->has_section = true;
			out->data =
			    att->att_data.att_body_section->sec_body_part;
			out->len = att->att_data.att_body_section->sec_length;
			break;
		default:
			break;
		}
	}
}

/* One section of one mail added to text; how much, or -1. */
static int
add_section(struct mailbox_box *box, uint32_t uid,
    struct mailimap_fetch_att *section, char *text,
    struct mailbox_trouble *trouble)
{
	struct mailimap_fetch_type	*type;
	struct imap_fetched		 one = { .len = 0 };
	clist				*list;
	int				 r;

	type = mailimap_fetch_type_new_fetch_att_list_empty();
	if (type == NULL || section == NULL)
		panic("out of memory");
	mailimap_fetch_type_new_fetch_att_list_add(type,
	    mailimap_fetch_att_new_uid());
	mailimap_fetch_type_new_fetch_att_list_add(type, section);
	r = fetch(box, mailimap_set_new_single(uid), true, type, &list,
	    trouble);
	if (r != 0 || list == NULL)
		return (r < 0 ? -1 : 0);
	for (clistiter *i = clist_begin(list); i != NULL; i = clist_next(i)) {
		imap_fetched(clist_content(i), &one);
		if (one.uid == uid && one.data != NULL)
			break;
		one.len = 0;
	}
	if (one.len > PIECE)
		one.len = PIECE;
	if (one.len > 0)
		memcpy(text, one.data, one.len);
	mailimap_fetch_list_free(list);
	return ((int)one.len);
}

int
imap_fetch_whole(struct mailbox_box *box, uint32_t uid, char **text_r,
    size_t *len_r, struct mailbox_trouble *trouble)
{
	char		*text = mem_alloc(PIECE * (PIECES + 1));
	size_t		 len;
	unsigned	 i;
	int		 n;

	*text_r = NULL;
	*len_r = 0;
	n = add_section(box, uid,
	    mailimap_fetch_att_new_body_peek_section_partial(
	    mailimap_section_new_header(), 0, IMAP_HEAD_MAX), text, trouble);
	len = n > 0 ? (size_t)n : 0;
	for (i = 0; n > 0 && i < PIECES; i++) {
		n = add_section(box, uid,
		    mailimap_fetch_att_new_body_peek_section_partial(
		    mailimap_section_new_text(), i * PIECE, PIECE),
		    text + len, trouble);
		len += n > 0 ? (size_t)n : 0;
		if (n < (int)PIECE)
			break;
	}
	if (n < 0 || len == 0) {
		mem_free(text);
		return (n < 0 ? -1 : 0);
	}
	*text_r = text;
	*len_r = len;
	return (0);
}

int
imap_fetch_top(struct mailbox_box *box, uint32_t from, bool by_uid,
    uint32_t *top_r, struct mailbox_trouble *trouble)
{
	struct mailimap_fetch_type	*type;
	struct imap_fetched		 one;
	clist				*list;
	clistiter			*i;
	int				 r;

	*top_r = 0;
	type = mailimap_fetch_type_new_fetch_att(mailimap_fetch_att_new_uid());
	r = fetch(box, by_uid ? mailimap_set_new_interval(from, 0) :
	    mailimap_set_new_single(from), by_uid, type, &list, trouble);
	if (r != 0 || list == NULL)
		return (r);
	for (i = clist_begin(list); i != NULL; i = clist_next(i)) {
		imap_fetched(clist_content(i), &one);
		if (one.uid > *top_r)
			*top_r = one.uid;
	}
	mailimap_fetch_list_free(list);
	return (0);
}
