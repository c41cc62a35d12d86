package plan

import (
	"math"
	"time"
)

// makeDeals makes up the deals: about one contact in six has one, and the contacts that are more likely to buy have
// more.
func (m *maker) makeDeals() {
	for i := range m.Contacts {
		c := &m.Contacts[i]
		interest := m.buyingInterest(c)
		if m.Float64() > 0.62*interest {
			continue
		}

		d := Deal{Contact: i, At: m.workdayAfter(c.At, 2, 28), Currency: drawWeighted(m, currencies)}
		d.Name = m.customerName(c) + " – " + pickOne(m, products)
		d.Amount = m.drawAmount(d.Currency, 480_000)
		if won, closed := m.addDeal(d, interest); won && closed.Before(m.until.AddDate(0, 0, -60)) && m.chance(45) {
			again := d
			again.Name, again.Renewal, again.At = m.customerName(c)+" – renewal", true, m.workdayAfter(closed, 45, 60)
			m.addDeal(again, min(interest+0.4, 0.9))
		}
	}
}

// buyingInterest returns the chance that a contact buys. The scoring model can learn it from the outcomes.
func (m *maker) buyingInterest(c *Contact) float64 {
	x := -1.7 + sourceWeights[c.Source] + titleWeights[c.Title]
	if c.Company != None {
		x += 0.45
	}
	if c.Phone != "" {
		x += 0.3
	}

	for _, t := range c.Tags {
		x += tagWeights[t]
	}

	if size, ok := c.Attributes["team_size"].(float64); ok && size > 60 {
		x += 0.5
	}

	return 1 / (1 + math.Exp(-x))
}

// customerName returns the name that a deal with the contact has.
func (m *maker) customerName(c *Contact) string {
	if c.Company != None {
		return m.Companies[c.Company].Name
	}
	return c.FirstName + " " + c.LastName
}

// drawAmount returns a price around the typical one, in minor units of the currency, rounded as prices are.
func (m *maker) drawAmount(currency string, typical float64) int64 {
	units := math.Exp(m.NormFloat64()*0.8) * typical / 100
	step := int64(50)
	if currency == "JPY" {
		units *= 150
		step = 5000
	}

	whole := max(int64(units)/step, 1) * step
	if currency == "JPY" { // has no minor unit
		return whole
	}

	return whole * 100
}

// addDeal adds the deal and what becomes of it until the end of the plan: it moves through its open stages, and is won
// with the given chance or lost. closed is the time of a deal that was won or lost.
func (m *maker) addDeal(d Deal, chance float64) (won bool, closed time.Time) {
	steps := 3
	if d.Renewal {
		steps = 2
	}

	d.Expected = d.At.AddDate(0, 0, m.between(20, 60))
	i := len(m.Deals)
	if !m.addAction(Action{At: d.At, Kind: CreateDeal, Of: i}) {
		return false, time.Time{}
	}

	m.Deals = append(m.Deals, d)
	m.addAction(Action{At: d.At.Add(time.Minute), Kind: MoveContact, Of: d.Contact, Stage: "opportunity"})
	at := d.At
	won = m.Float64() < chance
	for step := 1; step < steps; step++ {
		if !won && m.chance(25) { // lost before the last stage
			break
		}
		if at = m.workdayAfter(at, 2, 12); !m.addAction(Action{At: at, Kind: MoveDeal, Of: i, Step: step}) {
			return false, time.Time{}
		}
	}

	end := Action{At: m.workdayAfter(at, 2, 15), Kind: CloseDeal, Of: i, Won: won}
	if !won {
		end.Reason = drawWeighted(m, lostReasons)
	}
	if m.chance(12) || !m.addAction(end) { // nobody has closed it yet
		return false, time.Time{}
	}

	stage := "customer"
	tag := ""
	if !won {
		stage = "lead"
	} else if d.Renewal {
		stage = "evangelist"
		tag = "vip"
	}

	m.addAction(Action{At: end.At.Add(time.Minute), Kind: MoveContact, Of: d.Contact, Stage: stage, Tag: tag})

	return won, end.At
}

// dealsOf returns the deals of each contact, oldest first.
func (m *maker) dealsOf() map[int][]int {
	of := map[int][]int{}
	for i := range m.Deals {
		of[m.Deals[i].Contact] = append(of[m.Deals[i].Contact], i)
	}
	return of
}
