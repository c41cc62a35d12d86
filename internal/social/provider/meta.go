package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
)

// Common to Facebook, Instagram and Meta's ads: the Graph API's errors and pages.

// GraphVersion is the tested version of the Graph API.
const GraphVersion = "v25.0"

const graph = "https://graph.facebook.com/" + GraphVersion

// graphError is the error format of the Graph API, whatever the status.
type graphError struct {
	Error struct {
		Message   string `json:"message"`
		Code      int    `json:"code"`
		Subcode   int    `json:"error_subcode"`
		Transient bool   `json:"is_transient"`
	} `json:"error"`
	// Instagram's token endpoint has its own format.
	Type    string `json:"error_type"`
	Code    int    `json:"code"`
	Message string `json:"error_message"`
}

// graphJudge classifies the Graph API's codes.
func graphJudge(r Reply) (Class, string) {
	var said graphError
	if json.Unmarshal(r.Body, &said) != nil {
		return "", ""
	}
	if said.Type != "" && said.Error.Code == 0 {
		name := said.Type + "/" + strconv.Itoa(said.Code)
		switch {
		case has(said.Message, "platform app", "client_secret", "client secret", "client_id", "redirect_uri",
			"redirect uri"):
			return Misconfigured, name
		case said.Code == http.StatusTooManyRequests:
			return Throttled, name
		case said.Code >= 500:
			return Transient, name
		default: // the code was spent, is too old, or never existed
			return Dead, name
		}
	}
	e := said.Error
	if e.Code == 0 {
		return "", ""
	}
	name := strconv.Itoa(e.Code)
	if e.Subcode != 0 {
		name += "/" + strconv.Itoa(e.Subcode)
	}
	switch c := e.Code; {
	case c == 190, c == 102: // expired, logged out, checkpoint, password changed, application removed
		return Dead, name
	case has(e.Message, "client secret", "validating application", "appsecret_proof", "app secret"), c == 101, c == 104:
		return Misconfigured, name
	case c == 4, c == 17, c == 32, c == 341, c == 613, c >= 80000 && c < 80020:
		return Throttled, name
	case e.Transient, c == 1, c == 2, c == 368:
		return Transient, name
	case c == 10, c >= 200 && c < 300: // the permission was withdrawn
		return Dead, name
	case c == 100 && (e.Subcode == 36007 || e.Subcode == 36009): // the authorization code is too old, or spent
		return Dead, name
	default:
		return Misconfigured, name
	}
}

// proof returns the query that proves to the Graph API that the token is used by the application it was granted to.
func (p *Provider) proof(t Token, more url.Values) url.Values {
	mac := hmac.New(sha256.New, []byte(p.app.ClientSecret.Reveal()))
	mac.Write([]byte(t.Access.Reveal()))
	q := url.Values{"appsecret_proof": {hex.EncodeToString(mac.Sum(nil))}}
	for key, values := range more {
		q[key] = values
	}
	return q
}

// graphPage is one page of a list.
type graphPage[T any] struct {
	Data   []T `json:"data"`
	Paging struct {
		Next    string `json:"next"`
		Cursors struct {
			After string `json:"after"`
		} `json:"cursors"`
	} `json:"paging"`
}

// picture is the Graph API's format of an image.
type picture struct {
	Data struct {
		URL string `json:"url"`
	} `json:"data"`
}
