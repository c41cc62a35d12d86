package requestlog

import "github.com/funnelwork/funnelwork/internal/id"

// columns are entries as the arrays of insertSQL.
type columns struct {
	orgs, ids, keys, users, subjects         []id.ID
	requests, methods, routes, codes, bodies []string
	errors                                   []string
	statuses                                 []int16
	took                                     []int64
}

func (c *columns) addEntry(e *Entry) {
	c.orgs = append(c.orgs, e.Org)
	c.ids = append(c.ids, e.id)
	c.requests = append(c.requests, e.RequestID)
	c.methods = append(c.methods, e.Method)
	c.routes = append(c.routes, e.Route)
	c.statuses = append(c.statuses, int16(e.Status))
	c.codes = append(c.codes, e.Code)
	c.took = append(c.took, e.Took.Microseconds())
	c.keys = append(c.keys, e.Key)
	c.users = append(c.users, e.User)
	c.subjects = append(c.subjects, e.Subject)
	c.bodies = append(c.bodies, string(e.Body))
	c.errors = append(c.errors, string(e.Errors))
}

// insertArgs returns the arguments of insertSQL.
func (c *columns) insertArgs() []any {
	return []any{
		c.orgs, c.ids, c.requests, c.methods, c.routes, c.statuses, c.codes, c.took, c.keys, c.users, c.subjects,
		c.bodies, c.errors,
		id.ID{},
	}
}
