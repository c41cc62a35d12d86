package browser

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"testing"
	"time"
)

// records creates one record of each kind, and returns the pages that show them.
func (s *server) records(t *testing.T) []screen {
	t.Helper()
	c := s.asOwner(t)
	hook := c.id("/api/v1/webhooks", map[string]any{"url": s.inbox(), "events": []string{"*"}, "description": "Mirror"})
	company := c.id("/api/v1/crm/companies", map[string]any{"name": "Quill Works", "domain": "quill.example"})
	contact := c.id("/api/v1/crm/contacts", map[string]any{
		"email": "ada@quill.example", "first_name": "Ada", "last_name": "Quill", "company_id": company,
		"job_title": "Head of sales", "phone": "+1 202 555 0100", "tag": []string{"fair"},
		"attributes": map[string]any{"renewal": "2027-01-01", "seats": 12},
	})
	c.id("/api/v1/crm/notes", map[string]any{"contact_id": contact, "body": "Met at the fair."})
	c.id("/api/v1/crm/tasks", map[string]any{"title": "Send the offer", "contact_id": contact, "priority": "high"})
	deal := c.id("/api/v1/crm/deals", map[string]any{
		"name": "Quill licence", "amount": 120000, "currency": "EUR", "contact_id": contact, "company_id": company,
	})
	c.into(nil, http.MethodPost, "/api/v1/crm/contacts/exports", map[string]any{"format": "csv"})
	segment := c.id("/api/v1/crm/segments", map[string]any{"name": "Fair", "filter": map[string]any{"all": []any{
		map[string]any{"field": "tag", "op": "eq", "value": "fair"},
		map[string]any{"not": map[string]any{"any": []any{
			map[string]any{"field": "company_id", "op": "eq", "value": company},
			map[string]any{"field": "created_at", "op": "lt", "value": "2026-01-01T00:00:00Z"},
		}}},
	}}})
	static := c.id("/api/v1/crm/segments", map[string]any{"name": "Board"})
	imported := c.imported("email,first_name,plan\nbea@quill.example,Bea,pro\nnobody,No,\n")
	delivery, event := c.delivery(hook)
	webhook := settings + "/integrations/webhooks/" + hook
	return append(c.mails(contact), []screen{
		{"/app/contacts/" + contact, "#main h1"},
		{"/app/contacts?open=" + contact, "#main tbody tr"},
		{"/app/contacts/" + contact + "/score", "#main h1"},
		{"/app/companies/" + company, "#main h1"},
		{"/app/companies?open=" + company, "#main tbody tr"},
		{"/app/deals?view=list", "#main tbody tr"},
		{"/app/deals/" + deal, "#main [data-deal]"},
		{"/app/tasks?show=everyone", "#main [data-task]"},
		{"/app/segments/" + segment, "#main section ul li, #main section p"},
		{"/app/segments/" + static, "#main section p"},
		{"/app/imports/" + imported, "#main dl"},
		{webhook, "#main tbody tr"},
		{webhook + "/settings", "#main h1"},
		{webhook + "/deliveries/" + delivery, "#main button[aria-expanded]"},
		{settings + "/integrations/events/" + event, "#main button[aria-expanded]"},
	}...)
}

// imported imports a file and returns the import's id.
func (c *client) imported(csv string) string {
	c.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "people.csv")
	if err != nil {
		c.Fatal(err)
	}
	if _, err := part.Write([]byte(csv)); err != nil {
		c.Fatal(err)
	}
	if err := form.Close(); err != nil {
		c.Fatal(err)
	}
	status, answer := c.send(http.MethodPost, "/api/v1/crm/contacts/imports", form.FormDataContentType(), body.Bytes())
	var got struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer, &got); err != nil || status != http.StatusAccepted || got.ID == "" {
		c.Fatalf("import: %d %s %v", status, answer, err)
	}
	return got.ID
}

// delivery waits until a webhook has received a new contact's event, and returns the delivery and its event.
func (c *client) delivery(hook string) (delivery, event string) {
	c.Helper()
	return c.attempted(hook, "delivered", "contact.created")
}

// refusedDelivery waits until a webhook has refused a new company's event, and returns the delivery.
func (c *client) refusedDelivery(hook string) string {
	c.Helper()
	delivery, _ := c.attempted(hook, "failed", "company.created")
	return delivery
}

// attempted waits for a delivery of a webhook with a status and an event type, and returns it and its event.
func (c *client) attempted(hook, status, eventType string) (delivery, event string) {
	c.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		var list struct {
			Data []struct {
				ID    string
				Event string `json:"event_id"`
				Type  string `json:"event_type"`
			}
		}
		c.into(&list, http.MethodGet, "/api/v1/webhook-deliveries?status="+status+"&webhook_id="+hook, nil)
		for _, one := range list.Data {
			if one.Type == eventType {
				return one.ID, one.Event
			}
		}
	}
	c.Fatalf("no delivery of %s is %s", eventType, status)
	return "", ""
}
