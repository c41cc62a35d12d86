package templates

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
)

// Link is what the token of a link in a mail stands for.
type Link struct {
	Org     id.ID
	Contact id.ID
	Email   id.ID // the mail; zero for a system mail
}

// Purposes of tokens. A token of one purpose is unknown for any other purpose.
const (
	Unsubscribe = "link.unsubscribe"
	Subscribe   = "link.subscribe" // confirms a consent
)

// Paths of the pages that tokens lead to, with the token behind them. The token of a page of preferences is that of the
// page for unsubscribing, since both say what mails the contact gets.
const (
	UnsubscribePath = "/t/u/"
	SubscribePath   = "/t/s/"
	PreferencesPath = "/t/p/"
)

const idBytes = len(id.ID{})

// Token returns the token of l. key is the key of l.Org.
func (l Link) Token(key orgkey.Key, purpose string) string { return key.Token(purpose, l.bytes()) }

func (l Link) bytes() []byte {
	b := make([]byte, 0, 3*idBytes)
	b = append(b, l.Org[:]...)
	b = append(b, l.Contact[:]...)
	return append(b, l.Email[:]...)
}

// ParseLink returns the link that a token names. The caller must check it with Link.Issued. It returns false for a text
// that is no token.
func ParseLink(token string) (l Link, ok bool) {
	b, ok := orgkey.Payload(token, 3*idBytes)
	if !ok {
		return Link{}, false
	}
	copy(l.Org[:], b)
	copy(l.Contact[:], b[idBytes:])
	copy(l.Email[:], b[2*idBytes:])
	return l, true
}

// Issued reports whether token was issued for l and purpose. key is the key of l.Org.
func (l Link) Issued(key orgkey.Key, purpose, token string) bool {
	return !key.IsZero() && key.Issued(purpose, l.bytes(), token)
}
