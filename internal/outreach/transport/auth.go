package transport

import (
	"errors"
	"fmt"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

var errNoMechanism = errors.New("the server offers no sign-in that can be used")

// signIn authenticates by the best mechanism that both sides have.
func signIn(c *smtp.Client, s Server) error {
	switch {
	case s.AccessToken != "":
		return c.Auth(XOAUTH2(s.Username, s.AccessToken))
	case c.SupportsAuth(sasl.Plain):
		return c.Auth(sasl.NewPlainClient("", s.Username, s.Password))
	case c.SupportsAuth(sasl.Login):
		return c.Auth(sasl.NewLoginClient(s.Username, s.Password))
	}
	return errNoMechanism
}

// XOAUTH2 returns a client of the SASL mechanism of that name of Google and Microsoft
// (https://developers.google.com/workspace/gmail/imap/xoauth2-protocol). go-sasl has none.
func XOAUTH2(user, token string) sasl.Client { return &xoauth2{user: user, token: token} }

type xoauth2 struct {
	user, token string
	described   bool
}

var errChallenges = errors.New("the server goes on asking after it has described an error")

func (x *xoauth2) Start() (mech string, initial []byte, err error) {
	return "XOAUTH2", fmt.Appendf(nil, "user=%s\x01auth=Bearer %s\x01\x01", x.user, x.token), nil
}

// Next answers the description of an error with an empty message, after which the server sends its refusal.
func (x *xoauth2) Next([]byte) ([]byte, error) {
	if x.described {
		return nil, errChallenges
	}
	x.described = true
	return []byte{}, nil
}
