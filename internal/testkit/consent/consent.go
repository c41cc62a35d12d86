// Package consent acts for tests as a person on the consent pages of the OAuth sandbox, and as Meta, which posts signed
// requests.
package consent

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Choice is a person's input on the consent page.
type Choice struct {
	Person   string   // one of oauth.People, or any other name; the first of oauth.People if empty
	Accounts []string // ids of the accounts that stay selected; nil: all
	Deny     bool
	Without  []string // scopes that the person refuses
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
	formTarget  = regexp.MustCompile(`<form id="consent" method="post" action="([^"]*)">`)
	personBox   = regexp.MustCompile(`<input type="radio" name="person" value="([^"]*)"`)
	accountBox  = regexp.MustCompile(`<input type="checkbox" name="account" value="([^"]*)" checked>`)
	wrongText   = regexp.MustCompile(`<p class="wrong" role="alert">([^<]*)</p>`)
)

// Give goes through the consent page at an authorize URL like a person with a browser. It reads the page, fills in and
// submits the form, and returns the address to which it is redirected, without opening it. client may have a cookie
// jar; Give does not follow the client's own redirects.
func Give(ctx context.Context, client *http.Client, authorizeURL string, c Choice) (*url.URL, error) {
	browser := *client
	browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	page, status, _, err := browse(ctx, &browser, http.MethodGet, authorizeURL, nil)
	if err != nil {
		return nil, err
	}
	if wrong := wrongText.FindStringSubmatch(page); wrong != nil || status != http.StatusOK {
		return nil, fmt.Errorf("consent page returned %d: %s", status, strings.Join(wrong, " "))
	}
	target := formTarget.FindStringSubmatch(page)
	if target == nil {
		return nil, errors.New("consent page has no form")
	}
	form := url.Values{}
	for _, f := range hiddenField.FindAllStringSubmatch(page, -1) {
		form.Set(html.UnescapeString(f[1]), html.UnescapeString(f[2]))
	}
	c.fill(page, form)
	at, err := url.Parse(authorizeURL)
	if err != nil {
		return nil, err
	}
	to, err := at.Parse(html.UnescapeString(target[1]))
	if err != nil {
		return nil, err
	}
	said, status, back, err := browse(ctx, &browser, http.MethodPost, to.String(), form)
	if err != nil {
		return nil, err
	}
	if status != http.StatusFound {
		return nil, fmt.Errorf("consent form returned %d: %s", status, strings.TrimSpace(said))
	}
	return to.Parse(back)
}

// fill enters the person's choice in the form.
func (c Choice) fill(page string, form url.Values) {
	if c.Deny {
		form.Set("deny", "1")
		return
	}
	form.Set("allow", "1")
	var people []string
	for _, m := range personBox.FindAllStringSubmatch(page, -1) {
		people = append(people, html.UnescapeString(m[1]))
	}
	person := c.Person
	if person == "" {
		person = people[0]
	}
	form.Set("person", person)
	if !slices.Contains(people, person) {
		form.Set("other", person)
	}
	form["without"] = c.Without
	for _, m := range accountBox.FindAllStringSubmatch(page, -1) {
		if id := html.UnescapeString(m[1]); c.Accounts == nil || slices.Contains(c.Accounts, id) {
			form.Add("account", id)
		}
	}
}

func browse(ctx context.Context, client *http.Client, method, address string, form url.Values) (body string,
	status int, location string, err error,
) {
	var sent io.Reader
	if form != nil {
		sent = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, method, address, sent)
	if err != nil {
		return "", 0, "", err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := client.Do(req)
	if err != nil {
		return "", 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return string(raw), res.StatusCode, res.Header.Get("Location"), err
}

// SignedRequest returns the parameter signed_request that Meta posts to a family's deauthorize and data deletion
// callbacks for the person subject. secret is the application's.
func SignedRequest(secret, subject string, issued time.Time) string {
	payload := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil,
		`{"algorithm":"HMAC-SHA256","user_id":%q,"issued_at":%d}`, subject, issued.Unix()))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(payload))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) + "." + payload
}
