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

func (*event) objectKind() kind { return kindEvent }

func (e *event) indexKeys() []string {
	return []string{indexKey("type", e.Type), indexKey("delivery_success", e.Pending == 0)}
}

func (e *event) nextDue() int64 { return e.Created + eventAge }

func (e *event) addDerived(_ *tx, w shown, _ expansion) {
	delete(w, "metadata")
	if e.Account == "" {
		delete(w, "account")
	}
}

// emitEvent writes an event about an object in its present state; before is its former rendering, nil for a new object.
func (tx *tx) emitEvent(name string, o object, before shown) {
	now := tx.renderObject(o, nil)
	var previous map[string]any
	if before != nil {
		previous = changedMembers(before, now)
	}
	tx.emitRendered(name, now, previous)
}

func (tx *tx) emitRendered(name string, now shown, previous map[string]any) {
	e := &event{
		head: head{ID: newID("evt"), Created: tx.now}, Account: text(tx.account), Version: Version,
		Request: tx.request, Type: name,
	}
	var err error
	e.Data.Object, err = json.Marshal(now)
	tx.abortOnError(err)
	if len(previous) > 0 {
		e.Data.Previous, err = json.Marshal(previous)
		tx.abortOnError(err)
	}

	for _, to := range tx.readEndpoints() {
		if to.wantsEvent(name, tx.account != "") {
			e.Pending++
			tx.put(&delivery{
				head: head{ID: newID("dlv")}, Event: e.ID, Endpoint: to.ID,
				Next: tx.s.realTime().Unix(),
			})
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

func (*endpoint) objectKind() kind { return kindEndpoint }

func (e *endpoint) indexKeys() []string {
	return []string{indexKey("url", e.URL), indexKey("connect", e.Own.Connect)}
}

func (e *endpoint) addDerived(_ *tx, w shown, _ expansion) {
	if e.Own.fresh {
		w["secret"] = e.Own.Secret
	}
}

func (e *endpoint) wantsEvent(name string, connect bool) bool {
	return e.Status == "enabled" && e.Own.Connect == connect &&
		(slices.Contains(e.Events, "*") || slices.Contains(e.Events, name))
}

// readEndpoints returns the endpoints, which it reads once per transaction.
func (tx *tx) readEndpoints() []*endpoint {
	if !tx.known {
		rows, err := tx.rows.Find(tx.ctx, Query{Kind: string(kindEndpoint)})
		tx.abortOnError(err)
		for _, r := range slices.Backward(rows) {
			tx.sendTo = append(tx.sendTo, decodeRow[endpoint](tx, r))
		}
		tx.known = true
	}

	return tx.sendTo
}

func createEndpoint(tx *tx, c *call) (any, *problem) {
	e := &endpoint{
		head: head{ID: newID("we"), Metadata: c.metadata(nil)}, URL: c.requiredText("url"),
		Events: c.texts("enabled_events"), Status: "enabled", About: text(c.text("description")),
	}
	e.Version = text(c.enumValue("api_version", Version))
	if len(e.Events) == 0 {
		refuse(invalidRequest("enabled_events", "parameter_missing",
			"Missing required param: enabled_events."))
	}

	e.Own.Connect = c.isTrue("connect")
	e.Own.Secret = "whsec_" + randomText(32)
	e.Own.fresh = true
	tx.put(e)

	return e, nil
}

func updateEndpoint(tx *tx, c *call) (any, *problem) {
	e := mustFind[endpoint](tx, "webhook_endpoint", c.pathID())
	if v := c.text("url"); v != "" {
		e.URL = v
	}
	if v := c.texts("enabled_events"); v != nil {
		e.Events = v
	}

	if c.has("disabled") {
		e.Status = "enabled"
		if c.isTrue("disabled") {
			e.Status = "disabled"
		}
	}

	if v, ok := c.optionalText("description"); ok {
		e.About = text(v)
	}

	e.Metadata = c.metadata(e.Metadata)
	tx.put(e)

	return e, nil
}

func deleteEndpoint(tx *tx, c *call) (any, *problem) {
	e := mustFind[endpoint](tx, "webhook_endpoint", c.pathID())
	tx.drop(e)
	return shown{"id": e.ID, "object": string(kindEndpoint), "deleted": true}, nil
}

func listEvents(tx *tx, c *call) (any, *problem) {
	q := Query{}
	if v := c.text("type"); v != "" {
		q.All = append(q.All, indexKey("type", v))
	}

	for _, v := range c.texts("types") {
		q.Any = append(q.Any, indexKey("type", v))
	}

	if c.has("delivery_success") {
		q.All = append(q.All, indexKey("delivery_success", c.isTrue("delivery_success")))
	}

	return renderList[event](tx, c, "/v1/events", q, nil), nil
}
