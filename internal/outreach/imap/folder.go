package imap

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// Inbox is the name of the folder of incoming mail on every server.
const Inbox = "INBOX"

// Errors of a folder.
var (
	ErrNoUIDs   = errors.New("the server does not number the mails of the folder for good")
	ErrNoMail   = errors.New("the server does not return the mail")
	ErrTooLarge = errors.New("the mail is too large")
)

// Folder is the state of an examined folder.
type Folder struct {
	UIDValidity uint32 // the UIDs of mails mean something for this value alone
	UIDNext     uint32 // above every UID; 0: the server does not say
}

// Examine opens a folder for reading. The other methods of this file are about the folder that was opened last.
func (c *Conn) Examine(name string) (Folder, error) {
	c.limit.beginAnswer(shortAnswer)
	data, err := c.client.Select(name, &goimap.SelectOptions{ReadOnly: true}).Wait()
	if err != nil {
		return Folder{}, fmt.Errorf("examine folder: %w", c.limit.cause(err))
	}
	c.next = uint32(data.UIDNext)
	if data.UIDValidity == 0 {
		return Folder{}, ErrNoUIDs
	}
	return Folder{UIDValidity: data.UIDValidity, UIDNext: uint32(data.UIDNext)}, nil
}

// A search is for the mails of a range of UIDs, so that its answer is bounded.
const (
	uidRange  = 20_000
	maxRanges = 50
)

// From returns the lowest UIDs that are not below uid, in ascending order: all there are, or those of a range that has
// some. It returns none only if there are none.
func (c *Conn) From(uid uint32) ([]uint32, error) {
	for width := max(uidRange, (c.next-min(uid, c.next))/maxRanges); uid < c.next && c.next-uid > width; uid += width {
		all, err := c.between(uid, uid+width-1)
		if err != nil || len(all) > 0 {
			return all, err
		}
	}
	return c.between(uid, 0)
}

// between returns the UIDs of a range. last may be 0: up to the last mail.
func (c *Conn) between(first, last uint32) ([]uint32, error) {
	var set goimap.UIDSet
	set.AddRange(goimap.UID(first), goimap.UID(last))
	all, err := c.search(&goimap.SearchCriteria{UID: []goimap.UIDSet{set}})
	// The range up to * has the last mail, also if its UID is below the first one asked for.
	return slices.DeleteFunc(all, func(n uint32) bool { return n < first }), err
}

// Since returns the UIDs of the mails that arrived at the day of t or later, in ascending order.
func (c *Conn) Since(t time.Time) ([]uint32, error) {
	return c.search(&goimap.SearchCriteria{Since: t})
}

// maxFound is how many mails a search may find. Servers may name them as a range, however long.
const maxFound = 1 << 20

var errFound = errors.New("the server finds too many mails")

func (c *Conn) search(criteria *goimap.SearchCriteria) ([]uint32, error) {
	c.limit.beginAnswer(searchAnswer)
	found, err := c.client.UIDSearch(criteria, nil).Wait()
	if err != nil {
		return nil, fmt.Errorf("search folder: %w", c.limit.cause(err))
	}
	set, ok := found.All.(goimap.UIDSet)
	if !ok {
		return nil, nil
	}
	var all []uint32
	for _, r := range set {
		if r.Start == 0 || r.Stop < r.Start || int(r.Stop-r.Start) >= maxFound-len(all) {
			return nil, errFound
		}
		for uid := r.Start; ; uid++ {
			all = append(all, uint32(uid))
			if uid == r.Stop {
				break
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Summary describes a mail without what is in it.
type Summary struct {
	UID   uint32
	Size  int64
	At    time.Time // when it arrived
	Draft bool
}

// Summaries returns the summaries of those of the mails that are still there.
func (c *Conn) Summaries(uids []uint32) ([]Summary, error) {
	var set goimap.UIDSet
	for _, uid := range uids {
		set.AddNum(goimap.UID(uid))
	}
	expected := fetchAnswer
	expected.lines += len(uids)
	c.limit.beginAnswer(expected)
	cmd := c.client.Fetch(set, &goimap.FetchOptions{UID: true, Flags: true, RFC822Size: true, InternalDate: true})
	found := map[uint32]Summary{}
	for m := cmd.Next(); m != nil; m = cmd.Next() {
		if s := summaryOf(m); slices.Contains(uids, s.UID) {
			found[s.UID] = s
		}
	}
	if err := cmd.Close(); err != nil {
		return nil, fmt.Errorf("fetch summaries: %w", c.limit.cause(err))
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Summary) int { return cmp.Compare(a.UID, b.UID) }), nil
}

// summaryOf reads the data of one mail. What was not asked for is passed over.
func summaryOf(m *imapclient.FetchMessageData) (s Summary) {
	for item := m.Next(); item != nil; item = m.Next() {
		switch item := item.(type) {
		case imapclient.FetchItemDataUID:
			s.UID = uint32(item.UID)
		case imapclient.FetchItemDataRFC822Size:
			s.Size = item.Size
		case imapclient.FetchItemDataInternalDate:
			s.At = item.Time
		case imapclient.FetchItemDataFlags:
			s.Draft = slices.Contains(item.Flags, goimap.FlagDraft)
		}
	}
	return s
}

// maxHeader is how many bytes of the fields of a header are read.
const maxHeader = 256 << 10

// Header returns fields of a mail's header, as they were sent. The error wraps ErrNoMail if the mail is gone.
func (c *Conn) Header(uid uint32, fields ...string) ([]byte, error) {
	return c.section(uid, answer{literal: maxHeader}, &goimap.FetchItemBodySection{
		Specifier: goimap.PartSpecifierHeader, HeaderFields: fields, Peek: true,
	}, readAll)
}

// Mail returns a mail as it was received. The connection holds its share of the Dialer's Memory until the next command
// or Close, so the mail must not be used after that. The error wraps ErrBusy if there is no memory, wraps ErrNoMail if
// it is gone, and ErrTooLarge if it has more than limit bytes; the connection is of no use then.
func (c *Conn) Mail(uid uint32, limit int64) ([]byte, error) {
	return c.section(uid, answer{literal: limit}, &goimap.FetchItemBodySection{Peek: true}, readAll)
}

// ReducedMail returns what read makes of a mail as it arrives, of at most limit bytes. read holds at most held bytes.
// It is Mail otherwise.
func (c *Conn) ReducedMail(uid uint32, limit, held int64, read func(io.Reader) ([]byte, error)) ([]byte, error) {
	return c.section(uid, answer{literal: limit, held: held}, &goimap.FetchItemBodySection{Peek: true},
		func(r io.Reader, size int64) ([]byte, error) {
			in := &io.LimitedReader{R: r, N: size}
			raw, err := read(in)
			if err == nil && in.N > 0 { // a lost connection looks like the end
				err = io.ErrUnexpectedEOF
			}
			return raw, err
		})
}

func readAll(r io.Reader, size int64) ([]byte, error) {
	raw := make([]byte, size)
	_, err := io.ReadFull(r, raw) // a lost connection looks like the end
	return raw, err
}

// section returns a part of one mail. It ends the connection rather than read what is beyond the limit of the literal.
func (c *Conn) section(uid uint32, a answer, part *goimap.FetchItemBodySection,
	read func(r io.Reader, size int64) ([]byte, error),
) ([]byte, error) {
	limit := a.literal
	a.lines, a.text, a.line, a.literal = 500, 64<<10, 8<<10, limit+1
	c.limit.beginAnswer(a)
	cmd := c.client.Fetch(goimap.UIDSetNum(goimap.UID(uid)), &goimap.FetchOptions{
		UID: true, BodySection: []*goimap.FetchItemBodySection{part},
	})
	raw, err := readSection(cmd, limit, read)
	if err != nil {
		_ = c.limit.raw.Close()
	}
	if closed := cmd.Close(); err == nil {
		err = closed
	}
	if err == nil && raw == nil {
		err = ErrNoMail
	}
	if err != nil {
		return nil, fmt.Errorf("fetch mail: %w", c.limit.cause(err))
	}
	return raw, nil
}

// readSection returns the first part that a fetch returns; nil: none.
func readSection(cmd *imapclient.FetchCommand, limit int64, read func(r io.Reader, size int64) ([]byte, error)) (
	[]byte, error,
) {
	for m := cmd.Next(); m != nil; m = cmd.Next() {
		for item := m.Next(); item != nil; item = m.Next() {
			part, ok := item.(imapclient.FetchItemDataBodySection)
			if !ok || part.Literal == nil {
				continue
			}
			size := part.Literal.Size()
			if size > limit {
				return nil, ErrTooLarge
			}
			raw, err := read(part.Literal, size)
			if err != nil {
				return nil, fmt.Errorf("read mail: %w", err)
			}
			return raw, nil
		}
	}
	return nil, nil
}
