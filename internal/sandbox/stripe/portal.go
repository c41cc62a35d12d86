package stripe

const kindPortal kind = "billing_portal.session"

// portal is a link to the page where a customer manages their card and their invoices.
type portal struct {
	head
	Customer string `json:"customer"`
	Return   text   `json:"return_url"`
	URL      string `json:"url"`
	Config   string `json:"configuration"`
}

func (*portal) objectKind() kind { return kindPortal }

func (p *portal) addDerived(_ *tx, w shown, _ expansion) { delete(w, "metadata") }

func createPortal(tx *tx, c *call) (any, *problem) {
	cus := mustFind[customer](tx, "customer", c.requiredText("customer"))
	p := &portal{
		head: head{ID: newID("bps")}, Customer: cus.ID, Return: text(c.text("return_url")),
		Config: "bpc_sandbox",
	}
	p.URL = string(tx.pageURL("customers/" + cus.ID))
	tx.put(p)

	return p, nil
}
