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

// dress writes m in the looks that its org shows now. A mail to a person, of no org, has those of the org that the person
// was in last; whoever asked for it has long had an answer, and learns nothing by it.
func (j Job) dress(ctx context.Context, org id.ID, m *mail.Message) error {
	if j.Brands == nil {
		return nil
	}
	if org.IsZero() && j.System != nil {
		err := j.System.View(ctx, org, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx, `SELECT coalesce(last_org_id, '00000000-0000-0000-0000-000000000000') FROM app_user WHERE email_folded = $1`, []any{auth.FoldEmail(m.To)}, &org)
		})
		if err != nil && !postgres.None(err) {
			return fmt.Errorf("find the org of a mail: %w", err)
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

// look is what is shown, for a mail. A logo has to be a raster, and to be found from outside.
func look(s *branding.Shown, publicURL string) mail.Look {
	c := s.Colors
	l := mail.Look{
		Name: s.Name, PoweredBy: s.PoweredBy(), Support: s.SupportEmail,
		Primary: c.Primary.String(), OnPrimary: c.Primary.On().String(), Background: c.Background.String(), Text: c.Text.String(),
	}
	if s.Logo.Digest != "" && s.Logo.Raster() && publicURL != "" {
		l.Logo = publicURL + s.Logo.Path()
	}
	return l
}
