package main

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/seed-45b9a24c/pare"
)

// topicTexts are the pages of "pare help TOPIC".
//
//go:embed topics/*.txt
var topicTexts embed.FS

// topics are the names of these pages, in the order in which they are listed.
var topics = []string{"formats", "models", "strengths", "folds", "statuses", "exit"}

// explainTopic prints the page of a topic, and reports whether it exists.
func explainTopic(w io.Writer, topic string) bool {
	text, err := topicTexts.ReadFile("topics/" + topic + ".txt")
	if err != nil {
		return false
	}
	fmt.Fprint(w, strings.Replace(string(text), "{models}\n", modelLines(), 1))
	return true
}

// modelLines is the table of models, one line each.
func modelLines() string {
	var b strings.Builder
	width := 0
	for _, m := range pare.Models() {
		width = max(width, len(m))
	}
	for _, m := range pare.Models() {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, m, m.About())
	}
	return b.String()
}

// help handles "pare help" and "pare help TOPIC"; it reports whether args are one of them.
func help(w io.Writer, args []string) bool {
	switch {
	case args[0] != "help":
		return false
	case len(args) == 1:
		fmt.Fprintf(w, "%s\n\"pare help TOPIC\" explains %s.\n", welcome, strings.Join(topics, ", "))
		return true
	default:
		return len(args) == 2 && explainTopic(w, args[1])
	}
}
