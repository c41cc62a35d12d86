package provider

import (
	"context"
	"encoding/json"
	"strings"
)

// openidLogin calls an OpenID Connect userinfo endpoint.
func openidLogin(ctx context.Context, p *Provider, t Token, address string) (Login, error) {
	var me struct {
		Subject text   `json:"sub"`
		Name    string `json:"name"`
		Picture string `json:"picture"`
	}
	if err := p.Get(ctx, t, address, nil, nil, &me); err != nil {
		return Login{}, err
	}
	return Login{Subject: string(me.Subject), Name: me.Name, AvatarURL: me.Picture}, nil
}

// text is an id that some providers encode as a number.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = strings.Trim(string(raw), `"`)
		if s == "null" {
			s = ""
		}
	}
	*t = text(s)
	return nil
}
