package oauth

import (
	"strings"
	"time"
)

// renew exchanges a refresh token.
func (c *call) renew() (*login, refusal) {
	k := c.tx.knobs(c.d.family)
	l, t := c.tx.holder(c.get("refresh_token"))
	if l == nil || l.Family != c.d.family || t.Kind != kindRefresh {
		return nil, badRefresh
	}
	l.Requests++
	defer c.tx.save(l)
	rotation := k.Rotation
	if rotation == "" {
		rotation = c.d.rotation
	}
	if l.Dead != "" || t.Until != nil && !c.tx.now.Before(*t.Until) {
		return nil, badRefresh
	}
	again := false
	if t.Spent != nil {
		switch {
		case rotation == Strict:
			l.Dead = "reuse"
			return nil, badRefresh
		case rotation != Grace || c.tx.now.After(t.Spent.Add(k.Grace.or(time.Minute))):
			return nil, badRefresh
		}
		again = true
	}
	if rotation != Fixed && !again {
		spent := c.tx.now
		t.Spent = &spent
		put(c.tx, "token", place(c.get("refresh_token")), t)
		if !c.d.absolute {
			l.RefreshEnd = c.tx.until(k.RefreshLifetime.or(c.d.refresh))
		}
		c.tx.refreshToken(l)
	}
	c.tx.access(c.d, l, kindAccess)
	l.Refreshes++
	return l, ""
}

// granted returns the token endpoint's response for the newest tokens of a login, modified by the knobs.
func (c *call) granted(l *login) map[string]any {
	k := c.tx.knobs(c.d.family)
	body := map[string]any{"access_token": l.Access, "token_type": "Bearer", "scope": strings.Join(l.Scopes, " ")}
	if l.AccessEnd != nil && !k.NoExpiresIn {
		body["expires_in"] = c.tx.left(l.AccessEnd)
	}
	if l.Refresh == "" {
		return body
	}
	if c.get("refresh_token") != l.Refresh || c.d.repeats {
		body["refresh_token"] = l.Refresh
	}
	if l.RefreshEnd != nil {
		body["refresh_token_expires_in"] = c.tx.left(l.RefreshEnd)
	}
	switch k.RefreshToken {
	case Absent:
		delete(body, "refresh_token")
	case Empty:
		body["refresh_token"] = ""
	case Same:
		if sent := c.get("refresh_token"); sent != "" {
			body["refresh_token"] = sent
		}
	}
	return body
}

// left returns the number of seconds until end.
func (t *tx) left(end *time.Time) int64 { return int64(end.Sub(t.now) / time.Second) }
