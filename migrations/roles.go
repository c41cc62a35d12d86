package migrations

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// rolesSQL makes the two roles of 0001_ground.sql and lets the login take them. That file does so too, but not from
// Postgres 16 on: there a login that creates a role is its member at once, and may still not take it.
const rolesSQL = `DO $$
DECLARE
	taken text := CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END;
	role  text;
BEGIN
	FOREACH role IN ARRAY ARRAY['funnelwork_app', 'funnelwork_system'] LOOP
		IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
			BEGIN -- another database of the same cluster may make it at the same moment
				EXECUTE format('CREATE ROLE %I NOLOGIN', role);
			EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
			END;
		END IF;
		IF NOT pg_has_role(current_user, role, taken) THEN
			EXECUTE format('GRANT %I TO %I', role, current_user);
		END IF;
	END LOOP;
END
$$`

// makeRoles executes rolesSQL.
func makeRoles(ctx context.Context, url string) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("read DATABASE_URL: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.PgConn().Exec(ctx, rolesSQL).ReadAll() // the simple protocol, which every pooler speaks
	return err
}
