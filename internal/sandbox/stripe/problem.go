package stripe

import (
	"errors"
	"fmt"
	"net/http"
)

// problem is an answer that is not what was asked for, in the API's error object.
//
// Inside the package a refusal is a panic with a *problem: it leaves the work in hand, whose changes are undone,
// and is caught in one place, Sandbox.alone. So the steps of the engine read as the story that they tell. It
// never leaves the package.
type problem struct {
	Status  int         `json:"-"`
	Type    string      `json:"type"`
	Code    string      `json:"code,omitempty"`
	Decline string      `json:"decline_code,omitempty"`
	Message string      `json:"message"`
	Param   string      `json:"param,omitempty"`
	Charge  string      `json:"charge,omitempty"`
	Intent  any         `json:"payment_intent,omitempty"`
	DocURL  string      `json:"doc_url,omitempty"`
	Header  http.Header `json:"-"`
	kept    bool        // the work done is kept although the answer is this
}

// err is the refusal for callers outside of the API.
func (p *problem) err() error { return errors.New("sandbox stripe: " + p.String()) }

func (p *problem) String() string { return p.Type + " " + p.Code + ": " + p.Message }

// failure is an error of the store, on its way through a panic like a problem.
type failure struct{ error }

func refuse(p *problem) { panic(p) }

func invalid(param, code, format string, args ...any) *problem {
	return &problem{Status: http.StatusBadRequest, Type: "invalid_request_error", Code: code, Param: param, Message: fmt.Sprintf(format, args...)}
}

func missing(k kind, param, id string) *problem {
	return &problem{Status: http.StatusNotFound, Type: "invalid_request_error", Code: "resource_missing", Param: param, Message: fmt.Sprintf("No such %s: '%s'", k, id)}
}

func cardDeclined() *problem {
	return &problem{Status: http.StatusPaymentRequired, Type: "card_error", Code: "card_declined", Decline: "generic_decline", Message: "Your card was declined."}
}

func actionRequired() *problem {
	return &problem{Status: http.StatusPaymentRequired, Type: "card_error", Code: "invoice_payment_intent_requires_action", Message: "This payment requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with the invoice."}
}

// stored tells whether the idempotency store keeps this answer: it keeps what execution came to, an internal
// error included, but neither a refusal of the parameters nor a conflict.
func (p *problem) stored() bool {
	return p.Status == http.StatusPaymentRequired || p.Status == http.StatusNotFound || p.Status >= 500
}
