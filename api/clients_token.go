package api

import (
	"context"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

type createClientTokenIn struct {
	ClientID
	Body *struct {
		Role string `json:"role,omitempty" enum:"viewer,member,admin" default:"admin" doc:"Role to act in"`
	} `required:"false"`
}

// staffToken is a token that allows its holder to act in a client's org. It cannot be refreshed.
type staffToken struct {
	AccessToken string    `json:"access_token" doc:"JWT to send as Authorization: Bearer"`
	TokenType   string    `json:"token_type" enum:"Bearer" doc:"Scheme of the Authorization header"`
	ExpiresIn   int       `json:"expires_in" doc:"Seconds until the token expires"`
	AccessID    id.ID     `json:"access_id" format:"uuid" doc:"ID of this access in the client's audit log"`
	Org         orgName   `json:"org" doc:"The client organization in which the token acts"`
	Role        auth.Role `json:"role" enum:"viewer,member,admin" doc:"Role in which the token acts"`
}

type staffTokenOut struct{ Body staffToken }

// enterClient issues a staff token. The client's audit log records the access and every action made with the token.
func (a *App) enterClient(ctx context.Context, in *createClientTokenIn) (*staffTokenOut, error) {
	w := httpx.Who(ctx)
	role := auth.Admin
	if in.Body != nil && in.Body.Role != "" {
		role = auth.Role(in.Body.Role)
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*staffTokenOut, error) {
		c, err := org.Client(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}

		out := &staffTokenOut{staffToken{TokenType: "Bearer", Org: orgName{ID: c.ID, Name: c.Name}, Role: role}}
		err = tx.In(ctx, c.ID, func() error {
			token, access, life, err := a.Auth.Lend(ctx, tx, w, role)
			if err != nil {
				return err
			}
			out.Body.AccessToken = token
			out.Body.AccessID = access
			out.Body.ExpiresIn = int(life.Seconds())
			org.Audit(ctx, tx, org.Entry{
				Action: "staff.entered", Target: "staff_access", ID: access.String(),
				Detail: map[string]any{"agency": w.Org, "role": role, "seconds": out.Body.ExpiresIn},
			})
			return nil
		})
		if err != nil {
			return nil, err
		}

		org.Audit(ctx, tx,
			org.Entry{
				Action: "client_org.entered", Target: "client_org", ID: c.ID.String(),
				Detail: map[string]any{"access": out.Body.AccessID, "role": role},
			})

		return out, nil
	})
}
