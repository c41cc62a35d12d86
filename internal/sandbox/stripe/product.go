package stripe

import (
	"slices"
	"strconv"
	"strings"
)

const (
	kindProduct kind = "product"
	kindPrice   kind = "price"
)

type product struct {
	head
	Name    string `json:"name"`
	Active  bool   `json:"active"`
	About   text   `json:"description"`
	Updated int64  `json:"updated"`
	Default text   `json:"default_price"`
	Unit    text   `json:"unit_label"`
}

func (*product) objectKind() kind { return kindProduct }

func (p *product) indexKeys() []string { return []string{indexKey("active", p.Active)} }

func createProduct(tx *tx, c *call) (any, *problem) {
	id := c.text("id")
	if id == "" {
		id = newID("prod")
	} else if find[product](tx, id) != nil {
		refuse(invalidRequest("id", "resource_already_exists", "Product already exists."))
	}

	p := &product{head: head{ID: id}, Name: c.requiredText("name"), Active: true, Updated: tx.now}
	p.readParams(tx, c)
	tx.put(p)
	tx.emitEvent("product.created", p, nil)

	return p, nil
}

func (p *product) readParams(tx *tx, c *call) {
	if c.has("active") {
		p.Active = c.isTrue("active")
	}

	for name, at := range map[string]*text{"description": &p.About, "unit_label": &p.Unit} {
		if v, ok := c.optionalText(name); ok {
			*at = text(v)
		}
	}

	p.Metadata = c.metadata(p.Metadata)
	p.Updated = tx.now
}

func updateProduct(tx *tx, c *call) (any, *problem) {
	p := mustFind[product](tx, "product", c.pathID())
	before := tx.renderObject(p, nil)
	if name := c.text("name"); name != "" {
		p.Name = name
	}
	if id := c.text("default_price"); id != "" {
		p.Default = text(mustFind[price](tx, "default_price", id).ID)
	}

	p.readParams(tx, c)
	tx.put(p)
	tx.emitEvent("product.updated", p, before)

	return p, nil
}

// price is a per-unit, licensed price: metered and tiered prices are refused.
type price struct {
	head
	Active    bool       `json:"active"`
	Currency  string     `json:"currency"`
	Product   string     `json:"product"`
	Lookup    text       `json:"lookup_key"`
	Nickname  text       `json:"nickname"`
	Recurring *recurring `json:"recurring"`
	Type      string     `json:"type"`
	Tax       string     `json:"tax_behavior"`
	Unit      int64      `json:"unit_amount"`
}

type recurring struct {
	cycle
	Usage     string `json:"usage_type"`
	Aggregate text   `json:"aggregate_usage"`
	Trial     moment `json:"trial_period_days"`
}

func (*price) objectKind() kind { return kindPrice }

func (p *price) indexKeys() []string {
	return []string{
		indexKey("product", p.Product), indexKey("active", p.Active), indexKey("lookup_key",
			p.Lookup),
		indexKey("type", p.Type), indexKey("currency", p.Currency),
	}
}

func (p *price) addDerived(_ *tx, w shown, _ expansion) {
	w["unit_amount_decimal"] = strconv.FormatInt(p.Unit, 10)
}

// asPlan returns the legacy form of a price, which items still include.
func (p *price) asPlan() shown {
	w := newShape("plan")
	w["object"] = "plan"
	w["id"] = p.ID
	w["active"] = p.Active
	w["amount"] = p.Unit
	w["amount_decimal"] = strconv.FormatInt(p.Unit, 10)
	w["created"] = p.Created
	w["currency"] = p.Currency
	w["product"] = p.Product
	w["nickname"] = p.Nickname
	w["metadata"] = p.Metadata
	w["interval"] = p.Recurring.Interval
	w["interval_count"] = p.Recurring.Count
	w["usage_type"] = p.Recurring.Usage

	return w
}

func createPrice(tx *tx, c *call) (any, *problem) {
	p := &price{
		head: head{ID: newID("price")}, Active: true, Currency: strings.ToLower(c.requiredText("currency")),
		Type: "one_time", Tax: "unspecified",
	}
	if group := c.group("product_data"); c.has("product_data") {
		prod := &product{
			head: head{
				ID:       newID("prod"),
				Metadata: group.metadata(nil),
			}, Name: group.requiredText("name"),
			Active: true, Updated: tx.now,
		}
		tx.put(prod)
		tx.emitEvent("product.created", prod, nil)
		p.Product = prod.ID
	} else {
		p.Product = mustFind[product](tx, "product", c.requiredText("product")).ID
	}

	amount, ok := c.number("unit_amount")
	if !ok || amount < 0 {
		refuse(invalidRequest("unit_amount", "parameter_missing",
			"Missing required param: unit_amount."))
	}

	p.Unit = amount
	if c.has("recurring") {
		r := c.group("recurring")
		p.Type = "recurring"
		p.Recurring = &recurring{
			cycle: cycle{
				Interval: r.enumValue("interval", "day", "week", "month", "year"),
				Count:    1,
			},
			Usage: "licensed",
		}
		r.requiredText("interval")
		if n, ok := r.number("interval_count"); ok {
			p.Recurring.Count = n
		}

		if n := p.Recurring.Count; n < 1 || n > 36 {
			refuse(invalidRequest("recurring[interval_count]", "",
				"Invalid recurring[interval_count]: at most three years."))
		}

		r.enumValue("usage_type", "licensed")
	}

	c.enumValue("billing_scheme", "per_unit")
	p.readParams(tx, c)
	if c.has("active") {
		p.Active = c.isTrue("active")
	}

	tx.put(p)
	tx.emitEvent("price.created", p, nil)

	return p, nil
}

func (p *price) readParams(tx *tx, c *call) {
	if v, ok := c.optionalText("nickname"); ok {
		p.Nickname = text(v)
	}

	if v := c.enumValue("tax_behavior", "exclusive", "inclusive", "unspecified"); v != "" {
		p.Tax = v
	}

	move := c.isTrue("transfer_lookup_key")
	if v, ok := c.optionalText("lookup_key"); ok {
		for _, other := range findAll[price](tx, Query{All: []string{indexKey("lookup_key", v)}}) {
			if v == "" || other.ID == p.ID {
				continue
			}

			if !move {
				refuse(invalidRequest("lookup_key", "",
					"A price (`%s`) already uses that lookup key.", other.ID))
			}

			other.Lookup = ""
			tx.put(other)
		}

		p.Lookup = text(v)
	}

	p.Metadata = c.metadata(p.Metadata)
}

func updatePrice(tx *tx, c *call) (any, *problem) {
	p := mustFind[price](tx, "price", c.pathID())
	before := tx.renderObject(p, nil)
	if c.has("active") {
		p.Active = c.isTrue("active")
	}

	p.readParams(tx, c)
	tx.put(p)
	tx.emitEvent("price.updated", p, before)

	return p, nil
}

// subscribablePrice returns a price that can be subscribed to; param is the parameter that named it.
func (tx *tx) subscribablePrice(param, id string) *price {
	p := mustFind[price](tx, param, id)
	switch {
	case !p.Active:
		refuse(invalidRequest(param, "",
			"The price specified is inactive. This field only accepts active prices."))
	case p.Recurring == nil:
		refuse(invalidRequest(param, "",
			"The price specified is set to `type=one_time` but this field only accepts prices with `type=recurring`."))
	}

	return p
}

// sameCycle refuses prices that cannot be combined in one subscription.
func sameCycle(prices []*price) {
	for _, p := range prices[1:] {
		first := prices[0]
		if p.Currency != first.Currency {
			refuse(invalidRequest("items", "", "The subscription's items must have one currency."))
		}

		if p.Recurring.cycle != first.Recurring.cycle {
			refuse(invalidRequest("items", "",
				"Currency and interval fields must match across all plans on this subscription. Found mismatch in "+
					"interval field."))
		}
	}

	if i := slices.IndexFunc(prices, func(p *price) bool {
		return slices.Index(prices, p) != slices.IndexFunc(prices, func(q *price) bool { return q.ID == p.ID })
	}); i >= 0 {
		refuse(invalidRequest("items", "",
			"Cannot add multiple subscription items with the same plan: %s", prices[i].ID))
	}
}
