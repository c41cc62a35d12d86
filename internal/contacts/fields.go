package contacts

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// CustomField is the definition of a custom field.
type CustomField struct {
	Key       string    `json:"key" doc:"Key of the field in a contact's attributes"`
	Label     string    `json:"label" doc:"Display name; the key if none was given"`
	Type      Type      `json:"type" enum:"string,number,boolean,date"`
	CreatedAt wire.Time `json:"created_at" format:"date-time" doc:"When the field was defined"`
	UpdatedAt wire.Time `json:"updated_at" format:"date-time" doc:"When the label was last changed"`
	Edit      int       `json:"-"`
}

// Descriptions implements wire.Describer.
func (CustomField) Descriptions() map[string]string {
	return map[string]string{
		"type": "Type of the values; a date is a string YYYY-MM-DD",
	}
}

const fieldColumns = `key, label, type, created_at, updated_at, edit`

// Fields returns at most limit definitions of the org in key order, starting after the key after.
func Fields(ctx context.Context, tx *postgres.Tx, after string, limit int) ([]CustomField, error) {
	rows, err := tx.Query(ctx,
		`SELECT `+fieldColumns+
			` FROM contact_field WHERE org_id = $1 AND key > $2 AND archived_at IS NULL ORDER BY key LIMIT $3`,
		tx.Org(), after, limit)
	if err != nil {
		return nil, fmt.Errorf("list fields: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[CustomField])
}

// CountFields returns the number of definitions.
func CountFields(ctx context.Context, tx *postgres.Tx) (n int64, err error) {
	if err = tx.QueryRow(ctx, `SELECT count(*) FROM contact_field WHERE org_id = $1 AND archived_at IS NULL`,
		[]any{tx.Org()}, &n); err != nil {
		return 0, fmt.Errorf("count fields: %w", err)
	}
	return n, nil
}

// GetField returns one definition, or a not_found fault.
func GetField(ctx context.Context, tx *postgres.Tx, key string) (CustomField, error) {
	rows, err := tx.Query(ctx,
		`SELECT `+fieldColumns+` FROM contact_field WHERE org_id = $1 AND key = $2 AND archived_at IS NULL`, tx.Org(),
		key)
	if err != nil {
		return CustomField{}, fmt.Errorf("read field: %w", err)
	}
	f, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[CustomField])
	if postgres.None(err) {
		return CustomField{}, noField()
	}
	return f, err
}

func noField() *fault.Fault { return fault.New(fault.NotFound, "There is no such custom field.") }

// Define creates a definition. A key that is already defined is a field_exists fault. A 201st field is a validation
// fault when the transaction is sent. An empty label defaults to the key.
func Define(ctx context.Context, tx *postgres.Tx, key, label string, t Type) (CustomField, error) {
	v := checker{}
	if !ValidKey(key) {
		v.addError("key", "invalid_key",
			"A key has 1 to 64 printable characters, no slash, no blank at its ends, and is not dots alone.")
	}
	if strings.TrimSpace(label) == "" {
		label = key
	}
	v.checkText("label", label, maxName)
	if err := invalidFields(v.fields); err != nil {
		return CustomField{}, err
	}

	f := CustomField{Key: key, Label: label, Type: t, CreatedAt: wire.Now(), Edit: 1}
	f.UpdatedAt = f.CreatedAt
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('contact_field', hashtextextended($1::uuid::text, 0)))`,
		tx.Org())
	n, err := tx.Exec(ctx,
		`INSERT INTO contact_field (org_id, key, label, type, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $5) `+defineAgain,
		tx.Org(), f.Key, f.Label, string(f.Type), f.CreatedAt)
	if err != nil {
		return CustomField{}, fmt.Errorf("define field: %w", err)
	}
	if n == 0 {
		return CustomField{}, fault.New(fault.FieldExists, "A custom field with this key exists.")
	}

	queueCheck(tx, func(string) []fault.FieldError {
		return []fault.FieldError{{Pointer: "#/key", Code: tooManyFields("").Code, Detail: tooManyFields("").Detail}}
	},
		`SELECT refuse('fields', '') FROM contact_field WHERE org_id = $1 AND archived_at IS NULL
			HAVING count(*) > $2`, tx.Org(), maxFields)
	return f, nil
}

// Relabel changes the label of a field; key and type never change. An equal label writes nothing. Relabel passes the
// locked field to allow and returns its error.
func Relabel(ctx context.Context, tx *postgres.Tx, key string, allow func(*CustomField) error,
	label wire.Field[string],
) (CustomField, error) {
	rows, err := tx.Query(ctx,
		`SELECT `+fieldColumns+
			` FROM contact_field WHERE org_id = $1 AND key = $2 AND archived_at IS NULL FOR UPDATE`, tx.Org(), key)
	if err != nil {
		return CustomField{}, fmt.Errorf("read field: %w", err)
	}

	f, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[CustomField])
	switch {
	case postgres.None(err):
		return CustomField{}, noField()
	case err != nil:
		return CustomField{}, err
	}

	if err := allow(&f); err != nil {
		return CustomField{}, err
	}

	v := checker{}
	was := f.Label
	v.applyRequired("label", label, &f.Label, maxName)
	if err := invalidFields(v.fields); err != nil || f.Label == was {
		return f, err
	}

	f.UpdatedAt, f.Edit = wire.Now(), f.Edit+1
	tx.Queue(`UPDATE contact_field SET label = $3, updated_at = $4, edit = $5 WHERE org_id = $1 AND key = $2`,
		tx.Org(), key, f.Label, f.UpdatedAt, f.Edit)
	return f, nil
}

// Undefine archives a definition and removes its values from all contacts of the org, including archived ones. It does
// nothing if the definition is already archived, and then does not call match. An unknown key is a not_found fault. The
// caller checks that no definition names the field.
func Undefine(ctx context.Context, tx *postgres.Tx, key string, match Match) error {
	var (
		edit     int
		archived bool
	)
	err := tx.QueryRow(ctx,
		`SELECT edit, archived_at IS NOT NULL FROM contact_field WHERE org_id = $1 AND key = $2 FOR UPDATE`,
		[]any{tx.Org(), key}, &edit, &archived)
	switch {
	case postgres.None(err):
		return noField()
	case err != nil:
		return fmt.Errorf("read field: %w", err)
	case archived:
		return nil
	}

	if err := match.checkEdit(edit); err != nil {
		return err
	}

	now := wire.Now()
	tx.Queue(`UPDATE contact_field SET archived_at = $3, edit = edit + 1 WHERE org_id = $1 AND key = $2`, tx.Org(),
		key, now)
	tx.Queue(`UPDATE contact SET attributes = attributes - $2::text, edit = edit + 1, updated_at = $3
		WHERE org_id = $1 AND attributes ? $2::text`, tx.Org(), key, now)
	for _, column := range attributeColumns { // each column has its own index
		tx.Queue(`DELETE FROM contact_attribute WHERE org_id = $1 AND key = $2 AND `+column+` IS NOT NULL`, tx.Org(),
			key)
	}

	return nil
}
