package stripe

import (
	"strconv"
	"strings"
)

// pathID returns the id in the path.
func (c *call) pathID() string { return c.r.PathValue("id") }

// getObject returns one object of a kind.
func getObject[T any, P interface {
	*T
	object
}](tx *tx, c *call) (any, *problem) {
	return mustFind[T, P](tx, "id", c.pathID()), nil
}

// listObjects returns a page of the objects of a kind, newest first. filters are the parameters that select by a mark;
// an array matches any of its values.
func listObjects[T any, P interface {
	*T
	object
}](path string, filters ...string) handler {
	return func(tx *tx, c *call) (any, *problem) {
		q := Query{}
		for _, name := range filters {
			if values := c.texts(name); len(values) > 0 {
				one := strings.TrimSuffix(name, "s")
				for _, v := range values {
					q.Any = append(q.Any, indexKey(one, v))
				}
			} else if v := c.text(name); v != "" {
				q.All = append(q.All, indexKey(name, v))
			}
		}

		return renderList[T, P](tx, c, path, q, parseExpand(c.texts("expand"))["data"]), nil
	}
}

// renderList returns a page of the results of q, with the paging parameters of c.
func renderList[T any, P interface {
	*T
	object
}](tx *tx, c *call, path string, q Query, expand expansion) shown {
	limit := int64(10)
	if n, ok := c.number("limit"); ok {
		limit = n
		if n < 1 || n > 100 {
			refuse(invalidRequest("limit", "", "This value must be between 1 and 100."))
		}
	}

	c.addCreatedRange(&q)
	seq := func(param string) int64 {
		id := c.text(param)
		if id == "" {
			return 0
		}
		o := mustFind[T, P](tx, param, id)
		return o.top().row.Seq
	}
	q.Before, q.After = seq("starting_after"), seq("ending_before")
	q.Limit = int(limit) + 1
	found := findAll[T, P](tx, q)
	more := len(found) > int(limit)
	if more {
		found = found[:limit]
	}

	data := make([]shown, 0, len(found))
	for _, o := range found {
		data = append(data, tx.renderObject(o, expand))
	}

	if q.After > 0 {
		for i, j := 0, len(data)-1; i < j; i, j = i+1, j-1 {
			data[i], data[j] = data[j], data[i]
		}
	}

	return listResponse(path, more, data)
}

// addCreatedRange parses created=N and created[gt|gte|lt|lte]=N.
func (c *call) addCreatedRange(q *Query) {
	if n, ok := c.number("created"); ok {
		q.Since = n
		q.Until = n
	}

	r := c.group("created")
	for name, set := range map[string]func(int64){
		"gt": func(n int64) { q.Since = n + 1 }, "gte": func(n int64) { q.Since = n },
		"lt": func(n int64) { q.Until = n - 1 }, "lte": func(n int64) { q.Until = n },
	} {
		if n, ok := r.number(name); ok {
			set(n)
		}
	}
}

// searchObjects parses a query of clauses name:'value' and metadata['name']:'value', joined by AND. Pages are numbered.
func (tx *tx) searchObjects(c *call, k kind, run func(Query) []shown) (any, *problem) {
	limit := int64(10)
	if n, ok := c.number("limit"); ok {
		limit = min(max(n, 1), 100)
	}

	skip := 0
	if at := c.text("page"); at != "" {
		n, err := strconv.Atoi(at)
		if err != nil || n < 0 {
			refuse(invalidRequest("page", "", "Invalid page."))
		}
		skip = n
	}

	q := Query{Limit: skip + int(limit) + 1}
	for clause := range strings.SplitSeq(c.requiredText("query"), " AND ") {
		q.All = append(q.All, searchMark(clause))
	}

	data := run(q)
	data = data[min(skip, len(data)):]
	more := len(data) > int(limit)
	var next any
	if more {
		data, next = data[:limit], strconv.Itoa(skip+int(limit))
	}

	w := listResponse("/v1/"+string(k)+"s/search", more, data)
	w["object"] = "search_result"
	w["next_page"] = next

	return w, nil
}

func searchMark(clause string) string {
	name, value, ok := strings.Cut(strings.TrimSpace(clause), ":")
	value = strings.Trim(value, `'"`)
	if key, nested := strings.CutPrefix(name, "metadata["); nested {
		name = "metadata." + strings.Trim(strings.TrimSuffix(key, "]"), `'"`)
	}

	if !ok || strings.ContainsAny(name, " <>~-") && !strings.HasPrefix(name, "metadata.") {
		refuse(invalidRequest("query", "",
			"The sandbox searches for name:'value' and metadata['name']:'value', joined by AND; not for: %s", clause))
	}

	return indexKey(name, value)
}
