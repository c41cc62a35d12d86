// Package wire defines the types with a JSON form that is part of the API contract everywhere.
package wire

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

const layout = "2006-01-02T15:04:05.000000Z"

// Time is a time in UTC with exactly six fraction digits, as Postgres stores it and the API shows it.
type Time struct{ time.Time }

// Now returns the current time, truncated to the microsecond so that the returned time equals the stored one.
func Now() Time { return At(time.Now()) }

// At returns t in UTC, truncated to the microsecond.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Microsecond)} }

// String returns t in RFC 3339 in UTC with six fraction digits.
func (t Time) String() string { return t.UTC().Format(layout) }

// MarshalText returns String.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON overrides the method of the embedded time.Time.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalText parses a time as ParseTime does and truncates it to microseconds in UTC.
func (t *Time) UnmarshalText(b []byte) error {
	at, err := ParseTime(string(b))
	if err != nil {
		return err
	}
	*t = At(at)
	return nil
}

// UnmarshalJSON parses a string as UnmarshalText does.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if len(b) < 2 || b[0] != '"' {
		return errors.New("want a string that is an RFC 3339 time")
	}
	return t.UnmarshalText(b[1 : len(b)-1])
}

// TimestamptzValue and ScanTimestamptz let pgx read and write Time without reflection.
func (t Time) TimestamptzValue() (pgtype.Timestamptz, error) {
	return pgtype.Timestamptz{Time: t.Time, Valid: !t.IsZero()}, nil
}

// ScanTimestamptz reads a timestamptz; NULL becomes the zero Time.
func (t *Time) ScanTimestamptz(v pgtype.Timestamptz) error {
	*t = Time{}
	if v.Valid {
		*t = At(v.Time)
	}
	return nil
}
