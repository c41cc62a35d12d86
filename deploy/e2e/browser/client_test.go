package browser

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// client makes requests to the API as a person.
type client struct {
	*testing.T
	api, token string
	org        string
}

// asOwner signs the owner in by the API.
func (s *server) asOwner(t *testing.T) *client {
	t.Helper()
	c := &client{T: t, api: s.api}
	var got struct {
		Token string `json:"access_token"`
		Org   struct {
			ID string `json:"id"`
		} `json:"org"`
	}
	c.into(&got, http.MethodPost, "/api/v1/auth/login",
		map[string]any{"email": consoleOwner, "password": consolePassword})
	c.token, c.org = got.Token, got.Org.ID
	return c
}

// into makes a request and decodes its answer, which must be a success.
func (c *client) into(out any, method, path string, body any) {
	c.Helper()
	status, answer := c.try(method, path, body)
	if status < 200 || status > 299 {
		c.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(answer, out); err != nil {
		c.Fatalf("%s %s: %v: %s", method, path, err, answer)
	}
}

// try makes a request and returns its status and body.
func (c *client) try(method, path string, body any) (status int, answer []byte) {
	c.Helper()
	if body == nil {
		return c.send(method, path, "", nil)
	}
	sent, err := json.Marshal(body)
	if err != nil {
		c.Fatal(err)
	}
	return c.send(method, path, "application/json", sent)
}

// send makes a request with a body of a media type, and returns its status and body.
func (c *client) send(method, path, mediaType string, sent []byte) (status int, answer []byte) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.api+path, bytes.NewReader(sent))
	if err != nil {
		c.Fatal(err)
	}
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	got, err := http.DefaultClient.Do(req)
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	if answer, err = io.ReadAll(got.Body); err != nil {
		c.Fatal(err)
	}
	return got.StatusCode, answer
}

// id creates something and returns its id.
func (c *client) id(path string, body any) string {
	c.Helper()
	var got struct {
		ID string `json:"id"`
	}
	c.into(&got, http.MethodPost, path, body)
	if got.ID == "" {
		c.Fatalf("POST %s returned no id", path)
	}
	return got.ID
}
