package systemmail

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// dress applies the current branding of m's org to m. A mail to a person without an org gets the branding of the org
// that the person last used. This reveals nothing: the response to the request was sent long before.
func (j Job) dress(ctx context.Context, org id.ID, m *mail.Message) error {
	if j.Brands == nil {
		return nil
	}
	if org.IsZero() && j.System != nil {
		err := j.System.ReadTx(ctx, org, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx,
				`SELECT coalesce(last_org_id, '00000000-0000-0000-0000-000000000000') FROM app_user
					WHERE email_folded = $1`, []any{auth.FoldEmail(m.To)}, &org)
		})
		if err != nil && !postgres.None(err) {
			return fmt.Errorf("find org of mail: %w", err)
		}
	}
	shown, err := j.Brands.Of(ctx, org)
	if err != nil {
		return err
	}
	if shown != branding.Platform {
		m.Dress(look(&shown, j.PublicURL))
	}
	return nil
}

// look returns the branding as a mail theme. It includes the logo only if it is a raster image with a public URL.
func look(s *branding.Shown, publicURL string) mail.Theme {
	c := s.Colors
	l := mail.Theme{
		Name: s.Name, PoweredBy: s.PoweredBy(), Support: s.SupportEmail,
		Primary: c.Primary.String(), OnPrimary: c.Primary.On().String(), Background: c.Background.String(),
		Text: c.Text.String(),
	}
	if s.Logo.Digest != "" && s.Logo.Raster() && publicURL != "" {
		l.Logo = publicURL + s.Logo.Path()
	}
	return l
}
