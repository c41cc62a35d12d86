package deals

import (
	"slices"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Kinds of stages, which are also the statuses of deals.
const (
	Open = "open"
	Won  = "won"
	Lost = "lost"
)

// PipelineStage is one step of a pipeline.
type PipelineStage struct {
	ID          id.ID  `json:"id" format:"uuid" doc:"ID of the stage; send it back to keep the stage in an update"`
	Name        string `json:"name" doc:"Display name, unique in the pipeline"`
	Kind        string `json:"kind" enum:"open,won,lost" doc:"Status of the deals in this stage"`
	Probability int    `json:"probability" doc:"Chance to win a deal in this stage, in percent; won: 100, lost: 0"`
}

// Pipeline is a sequence of stages that a deal moves through until it is won or lost.
type Pipeline struct {
	ID         id.ID           `json:"id" format:"uuid" doc:"ID of the pipeline"`
	Name       string          `json:"name" doc:"Display name of the pipeline"`
	Default    bool            `json:"default" doc:"Pipeline of deals that name none; one per organization"`
	Stages     []PipelineStage `json:"stages" doc:"In pipeline order"`
	CreatedAt  wire.Time       `json:"created_at" format:"date-time" doc:"When the pipeline was created"`
	UpdatedAt  wire.Time       `json:"updated_at" format:"date-time" doc:"When it or a stage was last edited"`
	ArchivedAt *wire.Time      `json:"archived_at" format:"date-time" doc:"When it was archived; null: live"`
}

// PipelineRow is a pipeline with its edit counter.
type PipelineRow = record.Row[Pipeline]

// PipelineChange is the result of a change to a pipeline.
type PipelineChange = record.Change[Pipeline]

// pipelines describes the table of pipelines. The stages are read with their pipeline's row, as JSON in their order.
var pipelines = record.Table[Pipeline]{
	Name: "pipeline", Absent: "There is no such pipeline.",
	Columns: `id, name, is_default, created_at, updated_at, archived_at, (SELECT json_agg(json_build_object('id',
		s.id, 'name', s.name, 'kind', s.kind, 'probability', s.probability) ORDER BY s.place)
		FROM pipeline_stage s WHERE s.org_id = $1 AND s.pipeline_id = pipeline.id)`,
	Scan: func(p *Pipeline) []any {
		return []any{&p.ID, &p.Name, &p.Default, &p.CreatedAt, &p.UpdatedAt, &p.ArchivedAt, &p.Stages}
	},
	Stamps: func(p *Pipeline) (*wire.Time, **wire.Time) { return &p.UpdatedAt, &p.ArchivedAt },
}

const (
	maxStages    = 50
	maxPipelines = 100
)

// firstStage returns the pipeline's first stage of a kind. Every pipeline has at least one stage of each kind.
func (p *Pipeline) firstStage(kind string) *PipelineStage {
	i := slices.IndexFunc(p.Stages, func(s PipelineStage) bool { return s.Kind == kind })
	return &p.Stages[i]
}

func (p *Pipeline) findStage(i id.ID) *PipelineStage {
	at := slices.IndexFunc(p.Stages, func(s PipelineStage) bool { return s.ID == i })
	if at < 0 {
		return nil
	}
	return &p.Stages[at]
}

// StagePatch is one stage of a request. With an id it is an existing stage of the pipeline, otherwise a new one.
type StagePatch struct {
	ID          wire.Field[string]
	Name        wire.Field[string]
	Kind        wire.Field[string]
	Probability wire.Field[int64]
}

// PipelinePatch is a merge patch (RFC 7396) of a pipeline. It is also the body of a create request.
type PipelinePatch struct {
	Name    wire.Field[string]
	Default wire.Field[bool]
	Stages  wire.Field[[]StagePatch] // replaces all stages
	form.Refused
}

// apply applies p to now. was is the stored pipeline.
func (p *PipelinePatch) apply(was, now *Pipeline) error {
	f := form.At("")
	f.ReadOnly(p.Sent, was)
	f.Required("name", p.Name, &now.Name, form.Name)
	switch {
	case !p.Default.Set:
	case p.Default.Null || !p.Default.Value && was.Default:
		f.Wrong("default", "not_allowed", "One pipeline is the default. Make another one the default instead.")
	default:
		now.Default = p.Default.Value
	}
	if p.Stages.Set {
		now.Stages = checkStages(f, p.Stages, was)
	}
	return f.Fault()
}

// checkStages validates the stages of a request: unique names, ids of the pipeline, and at least one stage of each
// kind.
func checkStages(f *form.Form, in wire.Field[[]StagePatch], was *Pipeline) []PipelineStage {
	switch n := len(in.Value); {
	case in.Null:
		f.Wrong("stages", "not_nullable", "This field cannot be null.")
		return nil
	case n > maxStages:
		f.Wrong("stages", "too_many", "At most "+strconv.Itoa(maxStages)+" stages are allowed.")
		return nil
	}
	out := make([]PipelineStage, len(in.Value))
	names, ids, kinds := map[string]bool{}, map[id.ID]bool{}, map[string]bool{}
	for i, sent := range in.Value {
		s, each := &out[i], "stages/"+strconv.Itoa(i)
		known := &PipelineStage{}
		if sent.ID.Set && !sent.ID.Null {
			given, err := id.Parse(sent.ID.Value)
			if known = was.findStage(given); err != nil || known == nil || ids[given] {
				f.Wrong(each+"/id", "unknown_stage", was.noStage()+" Each may be named once. A new stage has no id.")
				continue
			}
			ids[given] = true
		} else {
			form.Missing(f, each+"/name", sent.Name)
			form.Missing(f, each+"/kind", sent.Kind)
			known.ID = id.New()
		}
		*s = *known
		f.Required(each+"/name", sent.Name, &s.Name, form.Name)
		f.OneOf(each+"/kind", sent.Kind, &s.Kind, Open, Won, Lost)
		s.Probability = checkProbability(f, each+"/probability", sent.Probability, known, s.Kind)
		if names[s.Name] {
			f.Wrong(each+"/name", "repeated", "Another stage has this name.")
		}
		names[s.Name], kinds[s.Kind] = true, true
	}
	for _, kind := range []string{Open, Won, Lost} {
		if f.OK() && !kinds[kind] {
			f.Wrong("stages", "missing_kind", "A pipeline has at least one open, one won and one lost stage.")
		}
	}
	return out
}

// noStage returns the message that p has no such stage, and lists the stages. p may be nil.
func (p *Pipeline) noStage() string {
	var names []string
	if p != nil {
		for _, s := range p.Stages {
			names = append(names, s.ID.String()+" ("+s.Name+")")
		}
	}
	return fault.Choices("The pipeline has no such stage.", "", names)
}

// checkProbability returns the fixed probability of a won or lost stage, or the probability of an open one, which
// defaults to 50.
func checkProbability(f *form.Form, field string, in wire.Field[int64], known *PipelineStage, kind string) int {
	fixed, ok := map[string]int{Won: 100, Lost: 0}[kind]
	switch {
	case in.Set && !in.Null && (in.Value < 0 || in.Value > 100):
		f.Wrong(field, "out_of_range", "A probability lies between 0 and 100.")
	case ok && in.Set && !in.Null && int(in.Value) != fixed:
		f.Wrong(field, "not_allowed", "A won stage has 100, a lost one 0.")
	case ok:
		return fixed
	case in.Set && !in.Null:
		return int(in.Value)
	case known.Kind == Open && !in.Null:
		return known.Probability
	}
	return 50
}

// defaultStages returns the default stages of a pipeline.
func defaultStages() []PipelineStage {
	return []PipelineStage{
		{id.New(), "Qualification", Open, 10},
		{id.New(), "Proposal", Open, 40},
		{id.New(), "Negotiation", Open, 70},
		{id.New(), "Won", Won, 100},
		{id.New(), "Lost", Lost, 0},
	}
}
