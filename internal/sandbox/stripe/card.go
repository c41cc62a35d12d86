package stripe

import "strings"

const kindCard kind = "payment_method"

// Conduct is the behavior of a test card when it is charged.
type Conduct string

// The conducts.
const (
	Works   Conduct = "ok"
	Decline Conduct = "decline"
	ThreeDS Conduct = "3ds" // works once the customer has confirmed the payment
)

// tests lists Stripe's test payment methods. Attaching one by its name creates a new card for the customer.
var tests = map[string]struct { //nolint:gochecknoglobals // a table
	conduct Conduct
	last4   string
}{
	"pm_card_visa":                                 {Works, "4242"},
	"pm_card_mastercard":                           {Works, "4444"},
	"pm_card_chargeDeclined":                       {Decline, "0002"},
	"pm_card_visa_chargeDeclined":                  {Decline, "0002"},
	"pm_card_chargeCustomerFail":                   {Decline, "0341"},
	"pm_card_authenticationRequired":               {ThreeDS, "3184"},
	"pm_card_threeDSecure2Required":                {ThreeDS, "3220"},
	"pm_card_authenticationRequiredOnSetup":        {ThreeDS, "3155"},
	"pm_card_threeDSecureRequired":                 {ThreeDS, "3063"},
	"pm_card_visa_chargeDeclinedInsufficientFunds": {Decline, "9995"},
}

// card is a payment method; there is no other type.
type card struct {
	head
	Customer text `json:"customer"`
	Own      struct {
		Conduct Conduct `json:"conduct"`
		Last4   string  `json:"last4"`
	} `json:"_"`
}

func (*card) objectKind() kind { return kindCard }

func (m *card) indexKeys() []string {
	return []string{indexKey("customer", m.Customer), indexKey("type", "card")}
}

func (m *card) addDerived(_ *tx, w shown, _ expansion) {
	details := copyNested(shapes()[kindCard], "card")
	details["last4"] = m.Own.Last4
	w["card"] = details
}

func newCard(test string) *card {
	t := tests[test]
	m := &card{head: head{ID: newID("pm")}}
	m.Own.Conduct = t.conduct
	m.Own.Last4 = t.last4
	return m
}

// createCard accepts a card only as one of the test tokens: the sandbox must never receive a real card number.
func createCard(tx *tx, c *call) (any, *problem) {
	c.enumValue("type", "card")
	token := c.group("card").requiredText("token")
	name := "pm_card_" + strings.TrimPrefix(token, "tok_")
	if _, known := tests[name]; !known {
		refuse(invalidRequest("card[token]", "resource_missing",
			"No such token: '%s'. The sandbox knows test tokens only.",
			token))
	}

	m := newCard(name)
	m.Metadata = c.metadata(nil)
	tx.put(m)

	return m, nil
}

// attachToCustomer attaches a card, or a new one by its test name, to a customer.
func (tx *tx) attachToCustomer(name, cus string) *card {
	m := find[card](tx, name)
	if _, test := tests[name]; test && m == nil {
		m = newCard(name)
	}

	if m == nil {
		refuse(noSuchObject(kindCard, "payment_method", name))
	}

	if m.Customer == text(cus) {
		return m
	}

	if m.Customer != "" {
		refuse(invalidRequest("payment_method", "",
			"The payment method you provided has already been attached to a customer."))
	}

	m.Customer = text(cus)
	tx.put(m)
	tx.emitEvent("payment_method.attached", m, nil)

	return m
}

func attachCard(tx *tx, c *call) (any, *problem) {
	return tx.attachToCustomer(c.pathID(),
		mustFind[customer](tx, "customer", c.requiredText("customer")).ID), nil
}

func detachCard(tx *tx, c *call) (any, *problem) {
	m := mustFind[card](tx, "payment_method", c.pathID())
	if m.Customer == "" {
		refuse(invalidRequest("", "",
			"The payment method you provided is not attached to a customer so detachment is impossible."))
	}

	cus := mustFind[customer](tx, "", string(m.Customer))
	if cus.Own.Card == text(m.ID) {
		cus.Own.Card = ""
		tx.put(cus)
	}

	m.Customer = ""
	tx.put(m)
	tx.emitEvent("payment_method.detached", m, nil)

	return m, nil
}
