package command

import (
	"errors"

	"github.com/funnelwork/funnelwork/internal/archive"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/jobs/platformretention"
)

// retention is the settings of workers about old data.
type retention struct {
	ArchiveURL    string `name:"archive-url" env:"FUNNELWORK_ARCHIVE_URL"`
	ArchiveKey    string `name:"archive-access-key" env:"FUNNELWORK_ARCHIVE_ACCESS_KEY" help:"Key of that store."`
	ArchiveSecret string `name:"archive-secret-key" env:"FUNNELWORK_ARCHIVE_SECRET_KEY" help:"Its secret."`

	RetainEvents     days `env:"FUNNELWORK_RETAIN_EVENTS" placeholder:"DAYS[,PLAN=DAYS...]"`
	RetainDeliveries days `env:"FUNNELWORK_RETAIN_DELIVERIES" placeholder:"DAYS[,PLAN=DAYS...]"`
	RetainAttempts   days `env:"FUNNELWORK_RETAIN_ATTEMPTS" placeholder:"DAYS[,PLAN=DAYS...]"`
	RetainMail       days `env:"FUNNELWORK_RETAIN_MAIL" placeholder:"DAYS[,PLAN=DAYS...]"`
}

type days = platformretention.Days

// checkSettings returns an error if the settings do not fit together, or name a plan that is not in the catalogue.
func (r *retention) checkSettings(catalogue *plans.Catalogue) error {
	keep := r.keepTimes()
	if err := keep.Check(catalogue); err != nil || r.ArchiveURL == "" {
		return err
	}
	if err := archive.CheckURL(r.ArchiveURL); err != nil {
		return invalidSetting("archive-url", "FUNNELWORK_ARCHIVE_URL", err)
	}
	if r.ArchiveKey == "" || r.ArchiveSecret == "" {
		return invalidSetting("archive-url", "FUNNELWORK_ARCHIVE_URL",
			errors.New("needs FUNNELWORK_ARCHIVE_ACCESS_KEY and FUNNELWORK_ARCHIVE_SECRET_KEY"))
	}

	return nil
}

func (r *retention) keepTimes() platformretention.Keep {
	return platformretention.Keep{
		Events: r.RetainEvents, Deliveries: r.RetainDeliveries, Attempts: r.RetainAttempts, Mail: r.RetainMail,
	}
}

// openArchive returns the archive, or nil if there is none.
func (r *retention) openArchive() (archive.Objects, error) {
	if r.ArchiveURL == "" {
		return nil, nil //nolint:nilnil // without an archive, expired days are dropped
	}
	return archive.OpenBucket(r.ArchiveURL, r.ArchiveKey, r.ArchiveSecret)
}
