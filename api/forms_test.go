package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
)

// forms is a body with a member for each kind of validation error of huma.
type forms struct {
	Needed      string          `json:"needed"`
	Moment      string          `json:"moment,omitempty" format:"date-time"`
	HTTPDate    string          `json:"http_date,omitempty" format:"date-time-http"`
	Day         string          `json:"day,omitempty" format:"date"`
	Clock       string          `json:"clock,omitempty" format:"time"`
	Email       string          `json:"email,omitempty" format:"email"`
	Host        string          `json:"host,omitempty" format:"hostname"`
	IPv4        string          `json:"ipv4,omitempty" format:"ipv4"`
	IPv6        string          `json:"ipv6,omitempty" format:"ipv6"`
	IP          string          `json:"ip,omitempty" format:"ip"`
	URL         string          `json:"url,omitempty" format:"uri"`
	URLTemplate string          `json:"url_template,omitempty" format:"uri-template"`
	UUID        string          `json:"uuid,omitempty" format:"uuid"`
	ShortUUID   string          `json:"short_uuid,omitempty" format:"uuid"`
	Pointer     string          `json:"pointer,omitempty" format:"json-pointer"`
	Relative    string          `json:"relative,omitempty" format:"relative-json-pointer"`
	Regexp      string          `json:"regexp,omitempty" format:"regex"`
	Wait        string          `json:"wait,omitempty" format:"duration"`
	Flag        bool            `json:"flag,omitempty"`
	Whole       int             `json:"whole,omitempty"`
	Fraction    int             `json:"fraction,omitempty"`
	Large       int             `json:"large,omitempty"`
	Number      float64         `json:"number,omitempty"`
	Text        string          `json:"text,omitempty"`
	Bytes       string          `json:"bytes,omitempty" encoding:"base64"`
	List        []string        `json:"list,omitempty"`
	Object      map[string]int  `json:"object,omitempty"`
	Unique      []string        `json:"unique,omitempty" uniqueItems:"true"`
	Interval    string          `json:"interval,omitempty" enum:"month,year"`
	Only        int             `json:"only,omitempty" enum:"7"`
	Least       int             `json:"least,omitempty" minimum:"1"`
	More        float64         `json:"more,omitempty" exclusiveMinimum:"0.5"`
	Most        int64           `json:"most,omitempty" maximum:"9007199254740992"`
	Less        int             `json:"less,omitempty" exclusiveMaximum:"1000000"`
	Multiple    int             `json:"multiple,omitempty" multipleOf:"5"`
	Short       string          `json:"short,omitempty" minLength:"2"`
	Empty       string          `json:"empty,omitempty" minLength:"1"`
	Long        string          `json:"long,omitempty" maxLength:"3"`
	Pattern     string          `json:"pattern,omitempty" pattern:"^[a-z]+$"`
	Described   string          `json:"described,omitempty" pattern:"^[a-z]+$" patternDescription:"lower-case letters"`
	Few         []string        `json:"few,omitempty" minItems:"1"`
	Many        []string        `json:"many,omitempty" maxItems:"2"`
	FewMembers  map[string]int  `json:"few_members,omitempty" minProperties:"2"`
	ManyMembers map[string]int  `json:"many_members,omitempty" maxProperties:"1"`
	With        string          `json:"with,omitempty" dependentRequired:"absent"`
	Absent      string          `json:"absent,omitempty"`
	Either      httpx.OneOrMore `json:"either,omitempty"`
	Value       *featureValue   `json:"value,omitempty"`
	Not         notBoolean      `json:"not,omitempty"`
	Inner       []struct {
		Kind string `json:"kind"`
	} `json:"inner,omitempty"`
}

type notBoolean struct{}

// Schema returns a schema that refuses true and false.
func (notBoolean) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Not: &huma.Schema{Type: huma.TypeBoolean}}
}

type formsIn struct {
	Limit  int       `query:"limit" minimum:"1" maximum:"200"`
	Size   float64   `query:"size"`
	On     bool      `query:"on"`
	At     time.Time `query:"at"`
	Sort   string    `query:"sort" enum:"name,-name"`
	Needed string    `query:"needed" required:"true"`
	Body   forms
}

// NewWithForms is New with an operation that has every kind of input.
func NewWithForms(d Deps) *App {
	return newApp(d, func(a *App) {
		httpx.Route(
			a.Server,
			httpx.Op{
				ID:     "forms.create",
				Method: http.MethodPost,
				Path:   "/api/v1/test/forms",
				Need:   httpx.Public,
				Tag:    "test",
				Title:  "Forms",
			},
			func(context.Context, *formsIn) (*struct{}, error) { return &struct{}{}, nil },
		)
	})
}

// ValidationTexts returns our texts for huma's validation messages, by huma's variables.
func ValidationTexts() map[*string]string {
	httpx.HookHuma()
	texts := map[*string]string{}
	for _, w := range httpx.ValidationWordings {
		texts[w.At] = w.Text
	}
	return texts
}

// Unmarshal decodes a body and returns its error as shown to the caller.
func Unmarshal(b []byte, v any) string {
	err := httpx.Unmarshal(b, v)
	if err == nil {
		return ""
	}
	return httpx.Complaint("body", err.Error(), nil, httpx.Shape{}).Detail
}

// WordingOf returns our text for huma's message.
func WordingOf(message string) string { return httpx.WordingOf(message).Text }

// Refused converts huma's errors to a fault.
func Refused(status int, message string, errs ...error) *fault.Fault {
	return httpx.Refusal(status, message, nil, errs, httpx.Shape{})
}
