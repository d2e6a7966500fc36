package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare/bench/peers"
)

// goalRule is the required ratio of the best other program's time to ours, for fits of some models.
type goalRule struct {
	models []string
	ratio  string // α/αmax as rows have it; "" for any
	goal   float64
}

// parseGoals reads rules like "lasso,enet 0.1 = 3; lasso,enet,logreg = 2".
func parseGoals(text string) ([]goalRule, error) {
	var rules []goalRule
	for part := range strings.SplitSeq(text, ";") {
		which, goal, _ := strings.Cut(part, "=")
		models, ratio, _ := strings.Cut(strings.TrimSpace(which), " ")
		v, err := strconv.ParseFloat(strings.TrimSpace(goal), 64)
		if err != nil || models == "" {
			return nil, fmt.Errorf("goals like \"lasso,enet 0.1 = 3; logreg = 2\", not %q", text)
		}
		rules = append(rules, goalRule{strings.Split(models, ","), strings.TrimSpace(ratio), v})
	}
	return rules, nil
}

// goalOf returns the goal of the first rule that matches a row; ok is false if none does.
func goalOf(rules []goalRule, row string) (goal float64, ok bool) {
	words := strings.Fields(row)
	for _, r := range rules {
		if slices.Contains(r.models, words[0]) && (r.ratio == "" || r.ratio == words[len(words)-1]) {
			return r.goal, true
		}
	}
	return 0, false
}

// unsolved marks a problem whose gap no other program met within the time limit.
const unsolved = "not in time"

// standing is the result of one problem: our seconds, and the fastest other program.
type standing struct {
	row, seconds, best string
	ratio, goal        float64 // ratio is +Inf if no other program met the gap
}

// bestBlock has a row per problem with a goal: our seconds, the best other program of all files, the ratio of
// its seconds to ours in the same run, and the goal. If a problem is in several files, our seconds are those of
// the last file.
func bestBlock(paths []string, how string) (string, error) {
	rules, err := parseGoals(how)
	if err != nil {
		return "", err
	}
	var all []standing
	for _, path := range paths {
		heading, rows, err := readCSV(path)
		if err != nil {
			return "", err
		}
		if !slices.Equal(heading, peersHeading()) {
			return "", errors.New("not a table of perf peers --csv")
		}
		for _, r := range rows {
			row, name, seconds := r[0], r[2], r[6]
			goal, ok := goalOf(rules, row)
			if !ok || name == peers.Prepared {
				continue
			}
			k := slices.IndexFunc(all, func(s standing) bool { return s.row == row })
			if k < 0 {
				k = len(all)
				all = append(all, standing{row: row, seconds: unsolved, best: unsolved, ratio: math.Inf(1), goal: goal})
			}
			if name == peers.Ours {
				if seconds != "" {
					all[k].seconds = three(seconds) + " s"
				}
				continue
			}
			if ratio, err := strconv.ParseFloat(r[9], 64); seconds != "" && err == nil && ratio < all[k].ratio {
				all[k].best, all[k].ratio = name, ratio
			}
		}
	}
	return standings(all), nil
}

// standings returns the table, followed by the geometric mean.
func standings(all []standing) string {
	logs, compared, met := 0.0, 0, 0
	table := make([][]string, 0, len(all))
	for _, s := range all {
		ratio, reached := "", "**no**"
		if !math.IsInf(s.ratio, 1) {
			ratio = strconv.FormatFloat(s.ratio, 'g', 3, 64)
			logs += math.Log(s.ratio)
			compared++
		}
		if s.seconds != unsolved && s.ratio >= s.goal {
			reached = "yes"
			met++
		}
		table = append(table, []string{s.row, s.seconds, s.best, ratio, strconv.FormatFloat(s.goal, 'g', -1, 64), reached})
	}
	if compared == 0 {
		return "Not in the last run.\n"
	}
	return markdown([]string{"problem", "pare", "best other program", "ratio", "goal", "met"}, table) +
		fmt.Sprintf("\n%d of %d problems meet their goal; the geometric mean over the %d that somebody else solved is %.2f.\n",
			met, len(all), compared, math.Exp(logs/float64(compared)))
}
