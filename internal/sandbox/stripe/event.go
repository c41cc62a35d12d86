package stripe

import (
	"encoding/json"
	"slices"
)

const (
	kindEvent    kind = "event"
	kindEndpoint kind = "webhook_endpoint"
)

// eventAge is how long events are kept, in seconds.
const eventAge = 30 * 86400

// event records a change, with the object as it was then.
type event struct {
	head
	Account text   `json:"account,omitempty"`
	Version string `json:"api_version"`
	Data    struct {
		Object   json.RawMessage `json:"object"`
		Previous json.RawMessage `json:"previous_attributes,omitempty"`
	} `json:"data"`
	Pending int64  `json:"pending_webhooks"`
	Request origin `json:"request"`
	Type    string `json:"type"`
}

func (*event) kind() kind { return kindEvent }

func (e *event) marks() []string {
	return []string{mark("type", e.Type), mark("delivery_success", e.Pending == 0)}
}

func (e *event) due() int64 { return e.Created + eventAge }

func (e *event) wire(_ *tx, w shown, _ expansion) {
	delete(w, "metadata")
	if e.Account == "" {
		delete(w, "account")
	}
}

// emit writes an event about an object in its present state; before is its former rendering, nil for a new object.
func (tx *tx) emit(name string, o object, before shown) {
	now := tx.show(o, nil)
	var previous map[string]any
	if before != nil {
		previous = differences(before, now)
	}
	tx.emitShown(name, now, previous)
}

func (tx *tx) emitShown(name string, now shown, previous map[string]any) {
	e := &event{
		head: head{ID: newID("evt"), Created: tx.now}, Account: text(tx.account), Version: Version,
		Request: tx.request, Type: name,
	}
	var err error
	e.Data.Object, err = json.Marshal(now)
	tx.try(err)
	if len(previous) > 0 {
		e.Data.Previous, err = json.Marshal(previous)
		tx.try(err)
	}
	for _, to := range tx.endpoints() {
		if to.wants(name, tx.account != "") {
			e.Pending++
			tx.put(&delivery{head: head{ID: newID("dlv")}, Event: e.ID, Endpoint: to.ID, Next: tx.s.wall().Unix()})
		}
	}
	tx.put(e)
}

// endpoint is a webhook endpoint. All belong to the platform; Connect endpoints get the accounts' events.
type endpoint struct {
	head
	Version text     `json:"api_version"`
	About   text     `json:"description"`
	Events  []string `json:"enabled_events"`
	Status  string   `json:"status"`
	URL     string   `json:"url"`
	Own     struct {
		Secret  string `json:"secret"`
		Connect bool   `json:"connect"`
		fresh   bool   // the secret is shown only once
	} `json:"_"`
}

func (*endpoint) kind() kind { return kindEndpoint }

func (e *endpoint) marks() []string {
	return []string{mark("url", e.URL), mark("connect", e.Own.Connect)}
}

func (e *endpoint) wire(_ *tx, w shown, _ expansion) {
	if e.Own.fresh {
		w["secret"] = e.Own.Secret
	}
}

func (e *endpoint) wants(name string, connect bool) bool {
	return e.Status == "enabled" && e.Own.Connect == connect &&
		(slices.Contains(e.Events, "*") || slices.Contains(e.Events, name))
}

// endpoints returns the endpoints, which it reads once per transaction.
func (tx *tx) endpoints() []*endpoint {
	if !tx.known {
		rows, err := tx.rows.Find(tx.ctx, Query{Kind: string(kindEndpoint)})
		tx.try(err)
		for _, r := range slices.Backward(rows) {
			tx.sendTo = append(tx.sendTo, open[endpoint](tx, r))
		}
		tx.known = true
	}
	return tx.sendTo
}

func createEndpoint(tx *tx, c *call) (any, *problem) {
	e := &endpoint{
		head: head{ID: newID("we"), Metadata: c.metadata(nil)}, URL: c.need("url"),
		Events: c.texts("enabled_events"), Status: "enabled", About: text(c.text("description")),
	}
	if e.Version = text(c.word("api_version", Version)); len(e.Events) == 0 {
		refuse(invalid("enabled_events", "parameter_missing", "Missing required param: enabled_events."))
	}
	e.Own.Connect, e.Own.Secret, e.Own.fresh = c.yes("connect"), "whsec_"+random(32), true
	tx.put(e)
	return e, nil
}

func updateEndpoint(tx *tx, c *call) (any, *problem) {
	e := get[endpoint](tx, "webhook_endpoint", c.id1())
	if v := c.text("url"); v != "" {
		e.URL = v
	}
	if v := c.texts("enabled_events"); v != nil {
		e.Events = v
	}
	if c.has("disabled") {
		if e.Status = "enabled"; c.yes("disabled") {
			e.Status = "disabled"
		}
	}
	if v, ok := c.opt("description"); ok {
		e.About = text(v)
	}
	e.Metadata = c.metadata(e.Metadata)
	tx.put(e)
	return e, nil
}

func deleteEndpoint(tx *tx, c *call) (any, *problem) {
	e := get[endpoint](tx, "webhook_endpoint", c.id1())
	tx.drop(e)
	return shown{"id": e.ID, "object": string(kindEndpoint), "deleted": true}, nil
}

func listEvents(tx *tx, c *call) (any, *problem) {
	q := Query{}
	if v := c.text("type"); v != "" {
		q.All = append(q.All, mark("type", v))
	}
	for _, v := range c.texts("types") {
		q.Any = append(q.Any, mark("type", v))
	}
	if c.has("delivery_success") {
		q.All = append(q.All, mark("delivery_success", c.yes("delivery_success")))
	}
	return listed[event](tx, c, "/v1/events", q, nil), nil
}
