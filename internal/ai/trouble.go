package ai

import (
	"encoding/json"
	"net/http"
	"time"
)

// Trouble is what an operator sees of a provider: its last answer, the last call without one, and what was learned.
type Trouble struct {
	Model      string     `json:"model"`
	AnsweredAt *time.Time `json:"answered_at"` // of the last answer since the start of the process
	FailedAt   *time.Time `json:"failed_at"`
	Class      string     `json:"class"` // of the last failure
	Reason     string     `json:"reason"`
	Detail     string     `json:"detail"` // the provider's own words
	// Accepts is what the requests have, as far as the provider takes it.
	Accepts Accepts `json:"accepts"`
}

// Accepts is the form of the requests to a provider.
type Accepts struct {
	TokenLimit     string `json:"token_limit"`     // max_tokens, max_completion_tokens, or "": none
	ResponseFormat string `json:"response_format"` // json_schema, json_object, or "": none
	Temperature    bool   `json:"temperature"`
	SystemRole     bool   `json:"system_role"`
	Stream         bool   `json:"stream"`
	ReasoningRoom  int64  `json:"reasoning_room"`
}

// Trouble returns the present state.
func (c *Client) Trouble() Trouble {
	c.mu.Lock()
	defer c.mu.Unlock()
	out, d := c.trouble, c.takes
	out.Model = c.model
	out.Accepts = Accepts{d.tokens, d.format, d.temperature, d.system, d.stream, d.headroom}
	return out
}

func (c *Client) recordAnswer() {
	now := time.Now().UTC()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trouble.AnsweredAt = &now
}

func (c *Client) recordTrouble(u *UnavailableError) {
	now := time.Now().UTC()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trouble.FailedAt, c.trouble.Class, c.trouble.Reason, c.trouble.Detail = &now, u.Class, u.Reason, u.Detail
}

// PagePath is the path of Page on an operator's listener.
const PagePath = "/ai/"

// Page serves Trouble as JSON.
func (c *Client) Page() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		_ = e.Encode(c.Trouble()) // a client that has gone
	})
}
