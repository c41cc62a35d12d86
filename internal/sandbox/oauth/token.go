package oauth

import (
	"strings"
	"time"
)

// renewLogin exchanges a refresh token.
func (c *call) renewLogin() (*login, refusal) {
	k := c.tx.knobsOf(c.d.family)
	l, t := c.tx.findHolder(c.param("refresh_token"))
	if l == nil || l.Family != c.d.family || t.Kind != kindRefresh {
		return nil, badRefresh
	}

	l.Requests++
	defer c.tx.saveLogin(l)

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
		case rotation != Grace || c.tx.now.After(t.Spent.Add(k.Grace.orDefault(time.Minute))):
			return nil, badRefresh
		}

		again = true
	}

	if rotation != Fixed && !again {
		spent := c.tx.now
		t.Spent = &spent
		writeRow(c.tx, "token", hashedID(c.param("refresh_token")), t)
		if !c.d.absolute {
			l.RefreshEnd = c.tx.expiryAfter(k.RefreshLifetime.orDefault(c.d.refresh))
		}
		c.tx.issueRefresh(l)
	}

	c.tx.issueAccess(c.d, l, kindAccess)
	l.Refreshes++

	return l, ""
}

// tokenResponse returns the token endpoint's response for the newest tokens of a login, modified by the knobs.
func (c *call) tokenResponse(l *login) map[string]any {
	k := c.tx.knobsOf(c.d.family)
	body := map[string]any{"access_token": l.Access, "token_type": "Bearer", "scope": strings.Join(l.Scopes, " ")}
	if l.AccessEnd != nil && !k.NoExpiresIn {
		body["expires_in"] = c.tx.secondsUntil(l.AccessEnd)
	}

	if l.Refresh == "" {
		return body
	}

	if c.param("refresh_token") != l.Refresh || c.d.repeats {
		body["refresh_token"] = l.Refresh
	}
	if l.RefreshEnd != nil {
		body["refresh_token_expires_in"] = c.tx.secondsUntil(l.RefreshEnd)
	}

	switch k.RefreshToken {
	case Absent:
		delete(body, "refresh_token")
	case Empty:
		body["refresh_token"] = ""
	case Same:
		if sent := c.param("refresh_token"); sent != "" {
			body["refresh_token"] = sent
		}
	}

	return body
}

// secondsUntil returns the number of seconds until end.
func (t *tx) secondsUntil(end *time.Time) int64 { return int64(end.Sub(t.now) / time.Second) }
