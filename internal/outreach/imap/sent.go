package imap

import (
	"fmt"
	"slices"
	"strings"

	goimap "github.com/emersion/go-imap/v2"
)

// sentNames has the usual names of the folder of sent mail, in lower case, for servers that mark none (RFC 6154).
var sentNames = []string{
	"sent", "sent items", "sent mail", "sent messages", "gesendet", "gesendete elemente", "gesendete objekte",
	"envoyés", "éléments envoyés", "messages envoyés", "enviados", "elementos enviados", "posta inviata", "inviata",
	"verzonden items", "verzonden", "wysłane", "elementy wysłane", "skickat", "sendt",
}

// Sent returns the name of the folder of sent mail. The error is ErrNoFolder if there is none.
func (c *Conn) Sent() (string, error) {
	var options *goimap.ListOptions
	if c.client.Caps().Has(goimap.CapSpecialUse) {
		options = &goimap.ListOptions{ReturnSpecialUse: true}
	}
	c.limit.beginAnswer(listAnswer)
	cmd := c.client.List("", "*", options)
	best, rank := "", len(sentNames)
	for f := cmd.Next(); f != nil; f = cmd.Next() {
		if rank < 0 || slices.Contains(f.Attrs, goimap.MailboxAttrNoSelect) {
			continue
		}
		if slices.Contains(f.Attrs, goimap.MailboxAttrSent) {
			best, rank = f.Mailbox, -1
			continue
		}
		name := f.Mailbox
		if f.Delim != 0 {
			name = name[strings.LastIndex(name, string(f.Delim))+1:]
		}
		if i := slices.Index(sentNames, strings.ToLower(name)); i >= 0 && i < rank {
			best, rank = f.Mailbox, i
		}
	}
	if err := cmd.Close(); err != nil {
		return "", fmt.Errorf("list folders: %w", c.limit.cause(err))
	}
	if best == "" {
		return "", ErrNoFolder
	}
	return best, nil
}

// Has reports whether a folder has a mail with the Message-ID, which is given without angle brackets.
func (c *Conn) Has(folder, messageID string) (bool, error) {
	c.limit.beginAnswer(shortAnswer)
	if _, err := c.client.Select(folder, &goimap.SelectOptions{ReadOnly: true}).Wait(); err != nil {
		return false, fmt.Errorf("examine folder: %w", c.limit.cause(err))
	}
	c.limit.beginAnswer(searchAnswer)
	found, err := c.client.UIDSearch(&goimap.SearchCriteria{
		Header: []goimap.SearchCriteriaHeaderField{{Key: "Message-ID", Value: messageID}},
	}, nil).Wait()
	if err != nil {
		return false, fmt.Errorf("search folder: %w", c.limit.cause(err))
	}
	set, ok := found.All.(goimap.UIDSet) // its UIDs are not listed: it may be a range of billions
	return ok && len(set) > 0, nil
}
