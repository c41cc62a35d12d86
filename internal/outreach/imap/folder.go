package imap

import (
	"cmp"
	"errors"
	"fmt"
	"io"
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
	data, err := c.client.Select(name, &goimap.SelectOptions{ReadOnly: true}).Wait()
	if err != nil {
		return Folder{}, fmt.Errorf("examine folder: %w", err)
	}
	if data.UIDValidity == 0 {
		return Folder{}, ErrNoUIDs
	}
	return Folder{UIDValidity: data.UIDValidity, UIDNext: uint32(data.UIDNext)}, nil
}

// From returns the UIDs that are not below uid, in ascending order.
func (c *Conn) From(uid uint32) ([]uint32, error) {
	var set goimap.UIDSet
	set.AddRange(goimap.UID(uid), 0)
	all, err := c.search(&goimap.SearchCriteria{UID: []goimap.UIDSet{set}})
	// The range up to * has the last mail, also if its UID is below the first one asked for.
	return slices.DeleteFunc(all, func(n uint32) bool { return n < uid }), err
}

// Since returns the UIDs of the mails that arrived at the day of t or later, in ascending order.
func (c *Conn) Since(t time.Time) ([]uint32, error) {
	return c.search(&goimap.SearchCriteria{Since: t})
}

// maxFound is how many mails a search may find. Servers may name them as a range, however long.
const maxFound = 1 << 20

var errFound = errors.New("the server finds too many mails")

func (c *Conn) search(criteria *goimap.SearchCriteria) ([]uint32, error) {
	found, err := c.client.UIDSearch(criteria, nil).Wait()
	if err != nil {
		return nil, fmt.Errorf("search folder: %w", err)
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
	found, err := c.client.Fetch(set, &goimap.FetchOptions{
		UID: true, Flags: true, RFC822Size: true, InternalDate: true,
	}).Collect()
	if err != nil {
		return nil, fmt.Errorf("fetch summaries: %w", err)
	}
	all := make([]Summary, 0, len(found))
	for _, m := range found {
		all = append(all, Summary{
			UID: uint32(m.UID), Size: m.RFC822Size, At: m.InternalDate,
			Draft: slices.Contains(m.Flags, goimap.FlagDraft),
		})
	}
	slices.SortFunc(all, func(a, b Summary) int { return cmp.Compare(a.UID, b.UID) })
	return all, nil
}

// maxHeader is how many bytes of the fields of a header are read.
const maxHeader = 256 << 10

// Header returns fields of a mail's header, as they were sent. The error wraps ErrNoMail if the mail is gone.
func (c *Conn) Header(uid uint32, fields ...string) ([]byte, error) {
	return c.section(uid, maxHeader, &goimap.FetchItemBodySection{
		Specifier: goimap.PartSpecifierHeader, HeaderFields: fields, Peek: true,
	})
}

// Mail returns a mail as it was received. The error wraps ErrNoMail if it is gone, and ErrTooLarge if it has more than
// limit bytes; the connection is of no use then.
func (c *Conn) Mail(uid uint32, limit int64) ([]byte, error) {
	return c.section(uid, limit, &goimap.FetchItemBodySection{Peek: true})
}

// section returns a part of one mail. It ends the connection rather than read what is beyond the limit.
func (c *Conn) section(uid uint32, limit int64, part *goimap.FetchItemBodySection) ([]byte, error) {
	cmd := c.client.Fetch(goimap.UIDSetNum(goimap.UID(uid)), &goimap.FetchOptions{
		UID: true, BodySection: []*goimap.FetchItemBodySection{part},
	})
	raw, err := readSection(cmd, limit)
	if err != nil {
		_ = c.raw.Close()
	}
	if closed := cmd.Close(); err == nil {
		err = closed
	}
	if err == nil && raw == nil {
		err = ErrNoMail
	}
	if err != nil {
		return nil, fmt.Errorf("fetch mail: %w", err)
	}
	return raw, nil
}

// readSection returns the first part that a fetch returns; nil: none.
func readSection(cmd *imapclient.FetchCommand, limit int64) ([]byte, error) {
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
			raw := make([]byte, size)
			if _, err := io.ReadFull(part.Literal, raw); err != nil { // a lost connection looks like the end
				return nil, fmt.Errorf("read mail: %w", err)
			}
			return raw, nil
		}
	}
	return nil, nil
}
