package testkit

import (
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// masters is the number of cluster nodes with slots.
const masters = 3

// RedisCluster returns the URL of a Redis Cluster of three masters, each with a third of the slots.
func RedisCluster(t testing.TB) string {
	t.Helper()
	return startRedisCluster(t, "2000").URL
}

// RedisShards is a Redis Cluster of three masters with a replica each.
type RedisShards struct {
	URL      string
	t        testing.TB
	masters  []*node
	replicas []*node // of the masters, in their order
	lost     int     // index of the master that was lost last
}

// RedisReplicatedCluster starts a RedisShards with the usual node timeout: a replica is promoted about six seconds
// after its master became silent.
func RedisReplicatedCluster(t testing.TB) *RedisShards {
	t.Helper()
	c := startRedisCluster(t, "5000")
	for _, master := range c.masters {
		id := master.cli.ClusterMyID(t.Context()).Val()
		c.replicas = append(c.replicas, c.replica(id))
	}
	for _, n := range c.masters {
		eventually(t, "each master knows all replicas", func() bool {
			return strings.Count(n.cli.ClusterNodes(t.Context()).Val(), " slave ") == masters
		})
	}
	return c
}

// replica starts a replica of the master with an id.
func (c *RedisShards) replica(of string) *node {
	c.t.Helper()
	replica := startClusterNode(c.t, "5000")
	c.join(replica)
	eventually(c.t, "the replica knows its master", func() bool {
		return replica.cli.ClusterReplicate(c.t.Context(), of).Err() == nil
	})
	eventually(c.t, "the replica follows", func() bool {
		return strings.Contains(replica.cli.Info(c.t.Context(), "replication").Val(), "master_link_status:up")
	})
	return replica
}

// Replace gives the node that was promoted in the place of the last lost master a replica, so that it may be lost, too.
func (c *RedisShards) Replace() {
	c.t.Helper()
	c.masters[c.lost] = c.replicas[c.lost]
	made := c.replica(c.masters[c.lost].cli.ClusterMyID(c.t.Context()).Val())
	c.replicas[c.lost] = made
	id := made.cli.ClusterMyID(c.t.Context()).Val()
	for _, n := range c.masters {
		eventually(c.t, "each master knows the replica", func() bool {
			for line := range strings.Lines(n.cli.ClusterNodes(c.t.Context()).Val()) {
				if f := strings.Fields(line); f[0] == id {
					return strings.Contains(f[2], "slave") && !strings.Contains(f[2], "fail")
				}
			}
			return false
		})
	}
}

// Kill kills the master with the key's slot with SIGKILL. The returned function reports whether another node has taken
// its slots, according to CLUSTER NODES of a remaining node.
func (c *RedisShards) Kill(key string) (promoted func() bool) {
	c.t.Helper()
	return c.lose(key, func(n *node) { n.kill() })
}

// Hang is Kill with a master whose connections stay open without replies.
func (c *RedisShards) Hang(key string) (promoted func() bool) {
	c.t.Helper()
	return c.lose(key, func(n *node) {
		var pid int
		for line := range strings.Lines(n.cli.Info(c.t.Context(), "server").Val()) {
			if id, is := strings.CutPrefix(line, "process_id:"); is {
				pid, _ = strconv.Atoi(strings.TrimSpace(id))
			}
		}
		if pid <= 0 {
			c.t.Fatal("testkit: a node does not name its process")
		}
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			c.t.Fatalf("testkit: %v", err)
		}
	})
}

func (c *RedisShards) lose(key string, lose func(*node)) (promoted func() bool) {
	c.t.Helper()
	slot := c.masters[0].cli.ClusterKeySlot(c.t.Context(), key).Val()
	dead := -1
	for i := range c.masters {
		if first, last := slots(i); int(slot) >= first && int(slot) <= last {
			dead = i
		}
	}
	c.lost = dead
	id := c.masters[dead].cli.ClusterMyID(c.t.Context()).Val()
	witness := c.masters[(dead+1)%masters]
	lose(c.masters[dead])
	return func() bool {
		left := 0
		for line := range strings.Lines(witness.cli.ClusterNodes(c.t.Context()).Val()) {
			f := strings.Fields(line) // id, address, flags, master, pings and pongs, epoch, link, slots
			if len(f) > 8 && f[0] != id && strings.Contains(f[2], "master") && !strings.Contains(f[2], "fail") {
				left++
			}
		}
		return left == masters
	}
}

func startRedisCluster(t testing.TB, timeout string) *RedisShards {
	t.Helper()
	c := &RedisShards{t: t}
	var addrs []string
	for i := range masters {
		n := startClusterNode(t, timeout)
		first, last := slots(i)
		if err := n.cli.ClusterAddSlotsRange(t.Context(), first, last).Err(); err != nil {
			t.Fatalf("testkit: %v", err)
		}
		c.masters, addrs = append(c.masters, n), append(addrs, n.addr)
	}
	for _, n := range c.masters[1:] {
		c.join(n)
	}
	for _, n := range c.masters {
		eventually(t, "the cluster is whole", func() bool {
			info, err := n.cli.ClusterInfo(t.Context()).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok") &&
				strings.Contains(info, "cluster_slots_assigned:16384")
		})
	}
	c.URL = "redis+cluster://:" + nodeSecret + "@" + strings.Join(addrs, ",")
	return c
}

func startClusterNode(t testing.TB, timeout string) *node {
	t.Helper()
	return startNode(t, false, "cluster-enabled yes", "cluster-config-file nodes.conf",
		"cluster-node-timeout "+timeout, "masterauth "+nodeSecret)
}

// slots returns the slots of the i-th master.
func slots(i int) (first, last int) { return i * 16384 / masters, (i+1)*16384/masters - 1 }

func (c *RedisShards) join(n *node) {
	c.t.Helper()
	host, port, _ := net.SplitHostPort(n.addr)
	if err := c.masters[0].cli.ClusterMeet(c.t.Context(), host, port).Err(); err != nil {
		c.t.Fatalf("testkit: %v", err)
	}
}
