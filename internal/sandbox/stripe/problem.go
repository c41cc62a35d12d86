package stripe

import (
	"errors"
	"fmt"
	"net/http"
)

// problem is an error response, in the format of the API's error object.
//
// Inside the package a refusal is a panic with a *problem. It aborts the current unit of work, which is undone, and is
// recovered in one place, Sandbox.runExclusive, so that the steps of the engine need no error handling. The panic never
// leaves the package.
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
	kept    bool        // keep the work in spite of the problem
}

// asError returns the refusal as an error, for callers outside of the API.
func (p *problem) asError() error { return errors.New("sandbox stripe: " + p.String()) }

func (p *problem) String() string { return p.Type + " " + p.Code + ": " + p.Message }

// failure is the panic value that carries a store's error.
type failure struct{ error }

func refuse(p *problem) { panic(p) }

func invalidRequest(param, code, format string, args ...any) *problem {
	return &problem{
		Status: http.StatusBadRequest, Type: "invalid_request_error", Code: code, Param: param,
		Message: fmt.Sprintf(format, args...),
	}
}

func noSuchObject(k kind, param, id string) *problem {
	return &problem{
		Status: http.StatusNotFound, Type: "invalid_request_error", Code: "resource_missing",
		Param: param, Message: fmt.Sprintf("No such %s: '%s'", k, id),
	}
}

func cardDeclined() *problem {
	return &problem{
		Status: http.StatusPaymentRequired, Type: "card_error", Code: "card_declined",
		Decline: "generic_decline", Message: "Your card was declined.",
	}
}

func actionRequired() *problem {
	return &problem{
		Status: http.StatusPaymentRequired, Type: "card_error",
		Code: "invoice_payment_intent_requires_action",
		Message: "This payment requires additional user action before it can be completed successfully. Payment " +
			"can be completed using the PaymentIntent associated with the invoice.",
	}
}

// isStored reports whether the idempotency store keeps this response: it keeps the result of an execution, including an
// internal error, but neither a refusal of the parameters nor a conflict.
func (p *problem) isStored() bool {
	return p.Status == http.StatusPaymentRequired || p.Status == http.StatusNotFound || p.Status >= 500
}
