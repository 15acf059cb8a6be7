// The questions that wait for a person: the oldest is asked, and one that is put off stays in reach.

import { Button } from "@mantine/core";
import { useState } from "react";

import { answerQuestion, owner, type Answer, type Question } from "../../backend";
import { TrustDialog } from "./TrustDialog";
import classes from "./Questions.module.css";

interface Props {
  questions: readonly Question[];
  /** Shows the page that the questions arise from. */
  onGo: () => void;
}

export function Questions({ questions, onGo }: Props) {
  const [later, setLater] = useState<ReadonlySet<number>>(new Set());
  const asked = questions.find((question) => !later.has(question.id));

  if (asked !== undefined) {
    const answer = async (decision: Answer) => {
      await answerQuestion(asked.id, decision);
      await owner.refresh();
    };
    return <TrustDialog key={asked.id} request={asked.kind.request} onAnswer={answer} onLater={() => setLater(new Set(later).add(asked.id))} />;
  }
  if (questions.length === 0) return null;
  return (
    <div className={classes.bar} role="status" data-testid="questions-waiting">
      {questions.length === 1 ? "A project waits for your trust." : `${questions.length} projects wait for your trust.`}
      <Button
        size="compact-xs"
        data-testid="questions-show"
        onClick={() => {
          setLater(new Set());
          onGo();
        }}
      >
        Decide
      </Button>
    </div>
  );
}
