// Package check renders the manifests in deploy/k8s and checks them without a cluster: each resource against the schema
// of its kind, and all of them against the rules that a schema cannot express. It is a separate module, so that
// kustomize is not among the program's dependencies.
//
// The schemas come from modules: the OpenAPI document of k8s.io/kubernetes, and the CRDs of KEDA and of Prometheus
// Operator. Without them the tests are skipped with a message, and fail if CI=true.
//
// kubeconform validates as a library. The rules that kube-score would add are in rules.go: with k8s.io/api its library
// is 11 MB of source to compile, twice as much as everything else here.
package check
