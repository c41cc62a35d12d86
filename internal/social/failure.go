package social

import (
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// Failure translates a provider's error into a fault for the caller. The detail states what a person can do about it;
// the provider's own message appears only in the log.
func Failure(err error) error {
	if err == nil {
		return nil
	}

	if !isProviders(err) {
		return err
	}

	var said *provider.Error
	if errors.As(err, &said) && said.Code == provider.NoIDToken {
		return fault.New(fault.ProviderRefused, "The provider did not say whose login this is: its answer has no "+
			"id_token. Only a new login helps. Begin the connection again.").Because(err)
	}

	switch provider.ClassOf(err) {
	case provider.Dead, provider.Stale:
		return fault.New(fault.ProviderRefused, "The provider refused this login. Begin the connection again.").
			Because(err)
	case provider.Misconfigured:
		return fault.New(fault.ProviderUnavailable,
			"The provider does not accept this service's application. The operator has to check it.").Because(err)
	default:
		f := fault.New(fault.ProviderUnavailable, "The provider is unavailable at the moment. Try again shortly.").
			Because(err)
		f.RetryAfter = 10 * time.Second
		return f
	}
}

// isRefusal reports whether a provider will answer the same again.
func isRefusal(err error) bool {
	switch provider.ClassOf(err) {
	case provider.Dead, provider.Stale, provider.Misconfigured:
		return isProviders(err)
	default:
		return false
	}
}

func isProviders(err error) bool {
	var e *provider.Error
	return errors.As(err, &e)
}
