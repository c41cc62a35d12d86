package api

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
)

type rotateSecretIn struct {
	HookID
	Body *rotateSecretRequest
}

type rotateSecretRequest struct {
	Secret       *string `json:"secret,omitempty" doc:"16 to 128 characters, not the current one; generated if absent"`
	OverlapHours *int    `json:"overlap_hours,omitempty" doc:"Hours the old secret also signs: 0 to 168; default 24"`
}

// rotatedWebhook shows the new secret, as madeHook does.
type rotatedWebhook struct {
	webhooks.Endpoint
	Secret string     `json:"secret" doc:"Shown only once; store it to verify signatures"`
	Until  *wire.Time `json:"previous_secret_expires_at" format:"date-time"`
}

// Descriptions implements wire.Describer.
func (rotatedWebhook) Descriptions() map[string]string {
	return map[string]string{
		"previous_secret_expires_at": "Until then the previous secret also signs each delivery, after the new one; " +
			"null with overlap_hours 0, which ends all earlier secrets. Secrets of earlier rotations sign until " +
			"their " +
			"own times",
	}
}

type rotateSecretOut struct {
	httpx.Tagged
	Body rotatedWebhook
}

func (a *App) rotateSecret(ctx context.Context, in *rotateSecretIn) (*rotateSecretOut, error) {
	chosen := ""
	overlap := webhooks.Overlap
	if b := in.Body; b != nil {
		if b.Secret != nil {
			if chosen = *b.Secret; chosen == "" {
				return nil, fault.Invalid("secret", "invalid_length", "A secret has 16 to 128 characters.")
			}
		}
		if b.OverlapHours != nil {
			// Clamp the value so that it cannot overflow; the clamped value is still out of range.
			overlap = time.Duration(min(max(*b.OverlapHours, -1), 1000)) * time.Hour
		}
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*rotateSecretOut, error) {
		v, shown, until, err := a.Hooks.Rotate(ctx, tx, in.ID, chosen, overlap)
		if err != nil {
			return nil, err
		}

		org.Audit(ctx, tx, org.Entry{
			Action: "webhook.secret_rotated", Target: "webhook", ID: v.ID.String(),
			Detail: map[string]any{"overlap_hours": int(overlap / time.Hour)},
		})
		return &rotateSecretOut{
			Tagged: httpx.ETag(v.Edit, v.Computed),
			Body:   rotatedWebhook{v.Endpoint, shown, until},
		}, nil
	})
}

type redeliverOut struct {
	Location string `header:"Location" doc:"Address of the new delivery"`
	Body     webhooks.Delivery
}

func (a *App) redeliverEvent(ctx context.Context, in *HookID) (*redeliverOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*redeliverOut, error) {
		d, err := a.Hooks.Redeliver(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return &redeliverOut{Location: deliveriesPath + "/" + d.ID.String(), Body: d}, nil
	})
}

// orZero returns the cursor's id, or the zero ID for the first page.
func orZero(i *id.ID) id.ID {
	if i == nil {
		return id.ID{}
	}
	return *i
}
