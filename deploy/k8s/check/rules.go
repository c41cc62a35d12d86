package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Facts are what the manifests have to agree with.
type Facts struct {
	User int // that the image runs as
}

// Faults returns what is wrong with the manifests of one kustomization, beyond their schemas.
func Faults(all []Manifest, f Facts) []string {
	r := &rules{all: all, facts: f}
	for _, m := range all {
		switch m.Kind {
		case "Deployment":
			r.pod(m)
			r.deployment(m)
		case "Job":
			r.pod(m)
		case "Service":
			r.service(m)
		case "PodDisruptionBudget":
			r.check(m, fmt.Sprint(m.Spec.MaxUnavailable) == "1", "maxUnavailable is %v", m.Spec.MaxUnavailable)
			r.check(m, m.Spec.Unhealthy == "AlwaysAllow", "a pod that cannot start keeps its node from being drained")
		case "HorizontalPodAutoscaler", "ScaledObject":
			r.scaler(m)
		}
	}
	return r.faults
}

type rules struct {
	all    []Manifest
	facts  Facts
	faults []string
}

func (r *rules) check(m Manifest, holds bool, format string, args ...any) {
	if !holds {
		r.faults = append(r.faults, m.Kind+" "+m.Metadata.Name+": "+fmt.Sprintf(format, args...))
	}
}

func yes(b *bool) bool { return b != nil && *b }
func no(b *bool) bool  { return b != nil && !*b }

// pod checks what every pod must have.
func (r *rules) pod(m Manifest) {
	p := m.Spec.Template.Spec
	r.check(m, yes(p.Security.NonRoot), "may run as root")
	r.check(m, p.Security.User == r.facts.User, "runs as user %d, the image as %d", p.Security.User, r.facts.User)
	r.check(m, p.Security.Seccomp.Type == "RuntimeDefault", "has no seccomp profile")
	r.check(m, no(p.Token), "has a token of the cluster")
	r.check(m, no(p.Links), "gets environment variables of every Service")
	r.check(m, r.isolated(m.Spec.Template), "no network policy for both directions selects its pods")
	r.check(m, len(p.Containers) == 1, "has %d containers", len(p.Containers))
	for _, c := range p.Containers {
		r.check(m, yes(c.Security.ReadOnly), "can write to its image's files")
		r.check(m, no(c.Security.Escalation), "may gain privileges")
		r.check(m, slices.Equal(c.Security.Capabilities.Drop, []string{"ALL"}), "keeps capabilities")
		r.check(m, c.Resources.Limits["memory"] != nil, "has no limit of memory")
		for _, what := range []string{"cpu", "memory", "ephemeral-storage"} {
			r.check(m, c.Resources.Requests[what] != nil, "requests no %s", what)
		}
		_, tag, _ := strings.Cut(c.Image[strings.LastIndex(c.Image, "/")+1:], ":")
		r.check(m, tag != "" && tag != "latest", "its image %s has no version", c.Image)
	}
}

// deployment checks what a long-running role must have.
func (r *rules) deployment(m Manifest) {
	p := m.Spec.Template.Spec
	r.check(m, m.Spec.Selector.selects(m.Spec.Template.Metadata.Labels), "does not select its own pods")
	r.check(m, r.budgeted(m), "has no disruption budget")
	scaled := r.scaled(m.Metadata.Name)
	r.check(m, (m.Spec.Replicas == nil) == scaled, "replicas: %v, autoscaled: %v", m.Spec.Replicas != nil, scaled)
	r.check(m, slices.ContainsFunc(p.Spread, func(s Spread) bool {
		return s.Key == "kubernetes.io/hostname" && s.Selector.selects(m.Spec.Template.Metadata.Labels)
	}), "is not spread over hosts")
	for _, c := range p.Containers {
		for name, probe := range map[string]*Probe{
			"startup": c.Startup, "liveness": c.Liveness, "readiness": c.Readiness,
		} {
			r.check(m, probe != nil && c.named(probe.Get.Port), "its %s probe leads to no port", name)
		}
		if c.Readiness != nil && c.Liveness != nil {
			r.check(m, c.Readiness.Get.Path != c.Liveness.Get.Path, "is killed when it is not ready")
			r.check(m, c.Liveness.Get.Path == "/healthz", "its liveness depends on %s", c.Liveness.Get.Path)
		}
		r.drains(m, c)
	}
}

// drains checks that a pod has the time to end in order: preStop, the drain delay of an API, and 25 s for what runs,
// with ten seconds to spare. While an API goes on serving, its readiness must be seen to fail.
func (r *rules) drains(m Manifest, c Container) {
	need := time.Duration(c.Lifecycle.PreStop.Sleep.Seconds)*time.Second + 35*time.Second
	if c.Name == "api" {
		delay, err := time.ParseDuration(r.setting("FUNNELWORK_DRAIN_DELAY"))
		r.check(m, err == nil, "FUNNELWORK_DRAIN_DELAY: %v", err)
		need += delay
		r.check(m, c.Lifecycle.PreStop.Sleep.Seconds > 0, "stops while endpoints still name it")
		if c.Readiness != nil {
			seen := time.Duration(c.Readiness.Period*c.Readiness.Threshold) * time.Second
			r.check(m, seen <= delay, "closes its port after %s, and probes see that it ends after %s", delay, seen)
		}
	}
	grace := time.Duration(m.Spec.Template.Spec.Grace) * time.Second
	r.check(m, grace >= need, "is killed after %s, and may need %s", grace, need)
}

// service checks that a Service leads to a port, and that the ops port has its own.
func (r *rules) service(m Manifest) {
	targets := map[string]bool{}
	for _, p := range m.Spec.Ports {
		targets[fmt.Sprint(p.Target)] = true
		found := false
		for _, d := range r.all {
			if d.Kind == "Deployment" && m.Spec.Selector.selects(d.Spec.Template.Metadata.Labels) {
				found = found || d.Spec.Template.Spec.Containers[0].named(p.Target)
			}
		}
		r.check(m, found, "its port %d leads nowhere", p.Port)
	}
	r.check(m, !targets["ops"] || len(targets) == 1, "shares the ops port with %v", slices.Sorted(maps.Keys(targets)))
	r.check(m, !targets["ops"] || strings.HasSuffix(m.Metadata.Name, "-ops"), "shows the ops port under another name")
}

func (r *rules) scaler(m Manifest) {
	r.check(m, slices.ContainsFunc(r.all, func(d Manifest) bool {
		return d.Kind == m.Spec.Target["kind"] && d.Metadata.Name == m.Spec.Target["name"] &&
			d.APIVersion == m.Spec.Target["apiVersion"]
	}), "scales %v, which does not exist", m.Spec.Target)
	if m.Kind == "ScaledObject" {
		r.check(m, m.Spec.MinReplicaCount > 0, "may leave no worker")
		r.check(m, m.Spec.MaxReplicaCount > 0, "has no upper bound")
	}
}

func (r *rules) scaled(name string) bool {
	return slices.ContainsFunc(r.all, func(m Manifest) bool { return m.Spec.Target["name"] == name })
}

func (r *rules) budgeted(d Manifest) bool {
	return slices.ContainsFunc(r.all, func(m Manifest) bool {
		return m.Kind == "PodDisruptionBudget" && m.Spec.Selector.selects(d.Spec.Template.Metadata.Labels)
	})
}

func (r *rules) isolated(p Pod) bool {
	return slices.ContainsFunc(r.all, func(m Manifest) bool {
		return m.Kind == "NetworkPolicy" && len(m.Spec.PolicyTypes) == 2 &&
			m.Spec.PodSelector.selects(p.Metadata.Labels)
	})
}

// setting returns a value of the ConfigMap.
func (r *rules) setting(name string) string {
	for _, m := range r.all {
		if v, ok := m.Data[name]; ok && m.Kind == "ConfigMap" {
			return v
		}
	}
	return ""
}

// named reports whether the container has the port, by name or number.
func (c Container) named(port any) bool {
	for _, p := range c.Ports {
		if fmt.Sprint(port) == p.Name || fmt.Sprint(port) == strconv.Itoa(p.Port) {
			return true
		}
	}
	return false
}

// selects reports whether a selector that is not empty selects the labels.
func (s Selector) selects(labels map[string]string) bool {
	for k, v := range s.Labels {
		if labels[k] != v {
			return false
		}
	}
	for _, e := range s.Expressions {
		if e.Operator != "In" || !slices.Contains(e.Values, labels[e.Key]) {
			return false
		}
	}
	return len(s.Labels)+len(s.Expressions) > 0
}
