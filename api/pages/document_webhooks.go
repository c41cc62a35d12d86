package pages

import (
	"fmt"
	"maps"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// about begins the description of the API document.
const about = `Contacts, automation and webhooks for marketing teams.

Every request except login and the like carries an access token or an API key, as Authorization: Bearer. Every error is
a problem (RFC 9457) whose code is one of a published list. Lists are paginated by cursor. A POST or PATCH with an
Idempotency-Key may be repeated within 24 hours and takes effect once. Single resources have an ETag; PATCH and DELETE
accept If-Match.`

// Introduction returns the description of the API document.
func Introduction() string {
	types := liveTypes() + " How to verify what arrives: /docs/webhooks."
	return strings.Join([]string{about, types, valuesNote, examplesNote}, "\n\n")
}

// documentWebhooks adds the webhooks: one operation per event type, with the envelope and that type's object as its
// body. They are written as an extension, since huma's schemas cannot express all of the catalogue's.
func documentWebhooks(doc *huma.OpenAPI) {
	all := map[string]any{}
	for _, t := range events.Catalogue() {
		all[t.Name] = map[string]any{"post": webhookOperation(t)}
	}
	extended := map[string]any{"webhooks": all}
	maps.Copy(extended, doc.Extensions)
	doc.Extensions = extended
}

func webhookOperation(t events.Type) map[string]any {
	sample, err := t.Example()
	if err != nil {
		panic(fmt.Errorf("sample of %s: %w", t.Name, err)) // the catalogue's test fails first
	}

	members := t.Schema()["properties"].(map[string]any) //nolint:forcetypeassert // an envelope has them
	description := "Sent when " + t.Description + "."
	if !t.Live {
		description += " Reserved: nothing emits it yet, and its payload may still change; test sends carry the " +
			"example."
	}

	return map[string]any{
		"operationId": "webhook." + strings.ReplaceAll(t.Name, ".", "_"), "security": []any{},
		"summary": t.Name, "description": description, "tags": []string{"Events"},
		"x-live": t.Live, "parameters": webhookHeaders(),
		"requestBody": map[string]any{"required": true, "content": map[string]any{"application/json": map[string]any{
			"schema": map[string]any{"allOf": []any{
				map[string]any{"$ref": "#/components/schemas/Event"},
				map[string]any{
					"type":       "object",
					"properties": map[string]any{"type": members["type"], "data": members["data"]},
				},
			}},
			"example": sample,
		}}},
		"responses": map[string]any{
			"2XX": map[string]any{
				"description": "Taken. Whatever else comes, or comes after 15 seconds, is a failure and is tried " +
					"again",
			},
			"410": map[string]any{"description": "No more: the webhook is disabled at once"},
		},
	}
}

// webhookHeaders returns the parameters of every delivery. Each webhook has them itself: generators of clients leave
// out the components that no path refers to, and would then not know the types of the headers.
func webhookHeaders() []any {
	header := func(name, description string) map[string]any {
		return map[string]any{
			"name": name, "in": "header", "required": true, "description": description,
			"schema": map[string]any{"type": "string"},
		}
	}
	return []any{
		header(webhooks.SignatureHeader,
			"Lower-case hex of HMAC-SHA-256 over the raw body, keyed with the secret as it was shown; while a "+
				"rotation overlaps, two of them with a comma between, newest first"),
		header("webhook-id", "The event's id, the same on every try"),
		header("webhook-signature",
			"Standard Webhooks: v1 and the base64 of HMAC-SHA-256 over id, timestamp and body; several with a "+
				"space between"),
		header("webhook-timestamp", "When this try was made, in seconds since 1970"),
	}
}

// liveTypes describes how many of the event types are emitted.
func liveTypes() string {
	live, all := events.Count()
	return fmt.Sprintf(
		"There are %d types of events, %d of them live; the others are reserved for what is still to come.", all, live)
}
