package command

import (
	"encoding/json"
	"io"
	"log/slog"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/events"
)

type openapi struct{}

// Run implements the kong command.
func (openapi) Run(log *slog.Logger, out io.Writer) error {
	_, err := out.Write(api.New(api.Deps{Log: log}).Document())
	return err
}

type catalogue struct{}

// Run implements the kong command. The last object has the number of types.
func (catalogue) Run(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")

	for _, t := range events.Catalogue() {
		sample, err := t.Example()
		if err != nil {
			return err
		}
		if err := e.Encode(map[string]any{
			"type": t.Name, "description": t.Description, "live": t.Live,
			"schema": t.Schema(), "sample": sample,
		}); err != nil {
			return err
		}
	}

	live, all := events.Count()

	return e.Encode(map[string]any{"types": all, "live": live, "reserved": all - live})
}
