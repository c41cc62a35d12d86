package main

import (
	"context"
	"errors"
	"log/slog"
)

func service(context.Context, *slog.Logger) error { return errors.New("not yet") }
