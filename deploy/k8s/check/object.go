package check

import (
	"encoding/json"
	"fmt"
)

// Object is the part of a resource that the rules read.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		Labels    map[string]string `json:"labels"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
	Spec Spec              `json:"spec"`
}

// Spec has the fields of several kinds.
type Spec struct {
	Replicas *any `json:"replicas"`
	Template Pod  `json:"template"`

	Selector    Selector          `json:"-"` // of a Deployment, a Service or a disruption budget
	RawSelector json.RawMessage   `json:"selector"`
	PodSelector Selector          `json:"podSelector"`
	PolicyTypes []string          `json:"policyTypes"`
	Ports       []ServicePort     `json:"ports"`
	Target      map[string]string `json:"scaleTargetRef"`

	MaxUnavailable any    `json:"maxUnavailable"`
	Unhealthy      string `json:"unhealthyPodEvictionPolicy"`

	MaxReplicas     int `json:"maxReplicas"`
	MinReplicaCount int `json:"minReplicaCount"`
	MaxReplicaCount int `json:"maxReplicaCount"`
}

// UnmarshalJSON reads both forms of a selector: a Service's has no matchLabels.
func (s *Spec) UnmarshalJSON(b []byte) error {
	type plain Spec
	if err := json.Unmarshal(b, (*plain)(s)); err != nil {
		return err
	}
	if s.RawSelector == nil {
		return nil
	}
	if err := json.Unmarshal(s.RawSelector, &s.Selector); err != nil {
		return fmt.Errorf("selector: %w", err)
	}
	if s.Selector.Labels == nil && s.Selector.Expressions == nil {
		return json.Unmarshal(s.RawSelector, &s.Selector.Labels)
	}
	return nil
}

// Selector selects pods by their labels.
type Selector struct {
	Labels      map[string]string `json:"matchLabels"`
	Expressions []struct {
		Key      string   `json:"key"`
		Operator string   `json:"operator"`
		Values   []string `json:"values"`
	} `json:"matchExpressions"`
}

// ServicePort is a port of a Service.
type ServicePort struct {
	Name   string `json:"name"`
	Port   int    `json:"port"`
	Target any    `json:"targetPort"`
}

// Pod is the template of a pod.
type Pod struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Grace    int      `json:"terminationGracePeriodSeconds"`
		Links    *bool    `json:"enableServiceLinks"`
		Token    *bool    `json:"automountServiceAccountToken"`
		Spread   []Spread `json:"topologySpreadConstraints"`
		Security struct {
			NonRoot *bool `json:"runAsNonRoot"`
			User    int   `json:"runAsUser"`
			Seccomp struct {
				Type string `json:"type"`
			} `json:"seccompProfile"`
		} `json:"securityContext"`
		Containers []Container `json:"containers"`
	} `json:"spec"`
}

// Spread spreads pods over the values of a label of their nodes.
type Spread struct {
	Key      string   `json:"topologyKey"`
	Selector Selector `json:"labelSelector"`
}

// Container is a container of a pod.
type Container struct {
	Name  string   `json:"name"`
	Image string   `json:"image"`
	Args  []string `json:"args"`
	Ports []struct {
		Name string `json:"name"`
		Port int    `json:"containerPort"`
	} `json:"ports"`
	Startup   *Probe `json:"startupProbe"`
	Liveness  *Probe `json:"livenessProbe"`
	Readiness *Probe `json:"readinessProbe"`
	Lifecycle struct {
		PreStop struct {
			Sleep struct {
				Seconds int `json:"seconds"`
			} `json:"sleep"`
		} `json:"preStop"`
	} `json:"lifecycle"`
	Resources struct {
		Requests map[string]any `json:"requests"`
		Limits   map[string]any `json:"limits"`
	} `json:"resources"`
	Security struct {
		Escalation   *bool `json:"allowPrivilegeEscalation"`
		ReadOnly     *bool `json:"readOnlyRootFilesystem"`
		Capabilities struct {
			Drop []string `json:"drop"`
		} `json:"capabilities"`
	} `json:"securityContext"`
}

// Probe is a probe by HTTP.
type Probe struct {
	Get struct {
		Path string `json:"path"`
		Port any    `json:"port"`
	} `json:"httpGet"`
	Period    int `json:"periodSeconds"`
	Threshold int `json:"failureThreshold"`
}
