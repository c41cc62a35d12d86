package command

import (
	"errors"

	"github.com/funnelwork/funnelwork/internal/archive"
	"github.com/funnelwork/funnelwork/jobs/platformretention"
)

// retention is the settings of workers about old data.
type retention struct {
	ArchiveURL    string `name:"archive-url" env:"FUNNELWORK_ARCHIVE_URL"`
	ArchiveKey    string `name:"archive-access-key" env:"FUNNELWORK_ARCHIVE_ACCESS_KEY" help:"Key of that store."`
	ArchiveSecret string `name:"archive-secret-key" env:"FUNNELWORK_ARCHIVE_SECRET_KEY" help:"Its secret."`

	RetainEvents     int `env:"FUNNELWORK_RETAIN_EVENTS" help:"Days that events are kept, 31 or more (31)."`
	RetainDeliveries int `env:"FUNNELWORK_RETAIN_DELIVERIES" help:"The same of webhook deliveries (31)."`
	RetainAttempts   int `env:"FUNNELWORK_RETAIN_ATTEMPTS" help:"The same of their attempts, 7 or more (31)."`
	RetainMail       int `env:"FUNNELWORK_RETAIN_MAIL" help:"The same of contents of mails, 30 or more (365)."`
}

// check returns an error if the settings do not fit together.
func (r *retention) check() error {
	if r.ArchiveURL == "" {
		return r.keep().Check()
	}
	if err := archive.CheckURL(r.ArchiveURL); err != nil {
		return invalid("archive-url", "FUNNELWORK_ARCHIVE_URL", err)
	}
	if r.ArchiveKey == "" || r.ArchiveSecret == "" {
		return invalid("archive-url", "FUNNELWORK_ARCHIVE_URL",
			errors.New("needs FUNNELWORK_ARCHIVE_ACCESS_KEY and FUNNELWORK_ARCHIVE_SECRET_KEY"))
	}
	return r.keep().Check()
}

func (r *retention) keep() platformretention.Keep {
	return platformretention.Keep{
		Events: r.RetainEvents, Deliveries: r.RetainDeliveries, Attempts: r.RetainAttempts, Mail: r.RetainMail,
	}
}

// objects returns the archive, or nil if there is none.
func (r *retention) objects() (archive.Objects, error) {
	if r.ArchiveURL == "" {
		return nil, nil //nolint:nilnil // without an archive, expired days are dropped
	}
	return archive.OpenBucket(r.ArchiveURL, r.ArchiveKey, r.ArchiveSecret)
}
