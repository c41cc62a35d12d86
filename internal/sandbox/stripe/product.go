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

func (*product) kind() kind { return kindProduct }

func (p *product) marks() []string { return []string{mark("active", p.Active)} }

func createProduct(tx *tx, c *call) (any, *problem) {
	id := c.text("id")
	if id == "" {
		id = newID("prod")
	} else if find[product](tx, id) != nil {
		refuse(invalid("id", "resource_already_exists", "Product already exists."))
	}
	p := &product{head: head{ID: id}, Name: c.need("name"), Active: true, Updated: tx.now}
	p.take(tx, c)
	tx.put(p)
	tx.emit("product.created", p, nil)
	return p, nil
}

func (p *product) take(tx *tx, c *call) {
	if c.has("active") {
		p.Active = c.yes("active")
	}
	for name, at := range map[string]*text{"description": &p.About, "unit_label": &p.Unit} {
		if v, ok := c.opt(name); ok {
			*at = text(v)
		}
	}
	p.Metadata, p.Updated = c.metadata(p.Metadata), tx.now
}

func updateProduct(tx *tx, c *call) (any, *problem) {
	p := get[product](tx, "product", c.id1())
	before := tx.show(p, nil)
	if name := c.text("name"); name != "" {
		p.Name = name
	}
	if id := c.text("default_price"); id != "" {
		p.Default = text(get[price](tx, "default_price", id).ID)
	}
	p.take(tx, c)
	tx.put(p)
	tx.emit("product.updated", p, before)
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

func (*price) kind() kind { return kindPrice }

func (p *price) marks() []string {
	return []string{
		mark("product", p.Product), mark("active", p.Active), mark("lookup_key", p.Lookup),
		mark("type", p.Type), mark("currency", p.Currency),
	}
}

func (p *price) wire(_ *tx, w shown, _ expansion) {
	w["unit_amount_decimal"] = strconv.FormatInt(p.Unit, 10)
}

// plan returns the legacy form of a price, which items still include.
func (p *price) plan() shown {
	w := shape("plan")
	w["object"], w["id"], w["active"], w["amount"], w["amount_decimal"] = "plan", p.ID, p.Active, p.Unit,
		strconv.FormatInt(p.Unit, 10)
	w["created"], w["currency"], w["product"], w["nickname"], w["metadata"] = p.Created, p.Currency, p.Product,
		p.Nickname, p.Metadata
	w["interval"], w["interval_count"], w["usage_type"] = p.Recurring.Interval, p.Recurring.Count, p.Recurring.Usage
	return w
}

func createPrice(tx *tx, c *call) (any, *problem) {
	p := &price{
		head: head{ID: newID("price")}, Active: true, Currency: strings.ToLower(c.need("currency")),
		Type: "one_time", Tax: "unspecified",
	}
	if group := c.of("product_data"); c.has("product_data") {
		prod := &product{
			head: head{ID: newID("prod"), Metadata: group.metadata(nil)}, Name: group.need("name"),
			Active: true, Updated: tx.now,
		}
		tx.put(prod)
		tx.emit("product.created", prod, nil)
		p.Product = prod.ID
	} else {
		p.Product = get[product](tx, "product", c.need("product")).ID
	}
	amount, ok := c.number("unit_amount")
	if !ok || amount < 0 {
		refuse(invalid("unit_amount", "parameter_missing", "Missing required param: unit_amount."))
	}
	p.Unit = amount
	if c.has("recurring") {
		r := c.of("recurring")
		p.Type = "recurring"
		p.Recurring = &recurring{
			cycle: cycle{Interval: r.word("interval", "day", "week", "month", "year"), Count: 1},
			Usage: "licensed",
		}
		r.need("interval")
		if n, ok := r.number("interval_count"); ok {
			p.Recurring.Count = n
		}
		if n := p.Recurring.Count; n < 1 || n > 36 {
			refuse(invalid("recurring[interval_count]", "", "Invalid recurring[interval_count]: at most three years."))
		}
		r.word("usage_type", "licensed")
	}
	c.word("billing_scheme", "per_unit")
	p.take(tx, c)
	if c.has("active") {
		p.Active = c.yes("active")
	}
	tx.put(p)
	tx.emit("price.created", p, nil)
	return p, nil
}

func (p *price) take(tx *tx, c *call) {
	if v, ok := c.opt("nickname"); ok {
		p.Nickname = text(v)
	}
	if v := c.word("tax_behavior", "exclusive", "inclusive", "unspecified"); v != "" {
		p.Tax = v
	}
	move := c.yes("transfer_lookup_key")
	if v, ok := c.opt("lookup_key"); ok {
		for _, other := range all[price](tx, Query{All: []string{mark("lookup_key", v)}}) {
			if v == "" || other.ID == p.ID {
				continue
			}
			if !move {
				refuse(invalid("lookup_key", "", "A price (`%s`) already uses that lookup key.", other.ID))
			}
			other.Lookup = ""
			tx.put(other)
		}
		p.Lookup = text(v)
	}
	p.Metadata = c.metadata(p.Metadata)
}

func updatePrice(tx *tx, c *call) (any, *problem) {
	p := get[price](tx, "price", c.id1())
	before := tx.show(p, nil)
	if c.has("active") {
		p.Active = c.yes("active")
	}
	p.take(tx, c)
	tx.put(p)
	tx.emit("price.updated", p, before)
	return p, nil
}

// usable returns a price that can be subscribed to; param is the parameter that named it.
func (tx *tx) usable(param, id string) *price {
	p := get[price](tx, param, id)
	switch {
	case !p.Active:
		refuse(invalid(param, "", "The price specified is inactive. This field only accepts active prices."))
	case p.Recurring == nil:
		refuse(invalid(param, "",
			"The price specified is set to `type=one_time` but this field only accepts prices with `type=recurring`."))
	}
	return p
}

// sameCycle refuses prices that cannot be combined in one subscription.
func sameCycle(prices []*price) {
	for _, p := range prices[1:] {
		first := prices[0]
		if p.Currency != first.Currency {
			refuse(invalid("items", "", "The subscription's items must have one currency."))
		}
		if p.Recurring.cycle != first.Recurring.cycle {
			refuse(invalid("items", "",
				"Currency and interval fields must match across all plans on this subscription. Found mismatch in "+
					"interval field."))
		}
	}
	if i := slices.IndexFunc(prices, func(p *price) bool {
		return slices.Index(prices, p) != slices.IndexFunc(prices, func(q *price) bool { return q.ID == p.ID })
	}); i >= 0 {
		refuse(invalid("items", "", "Cannot add multiple subscription items with the same plan: %s", prices[i].ID))
	}
}
