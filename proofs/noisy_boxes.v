(* Noisy boxes: two-sided geometric noise on counts, what one person's own data can change, and from odds to belief.
   docs/guarantees.md, "Why noisy boxes hold against the insider"; "Sets of values", Noisy boxes; "With noise: of at most k values a
   person"; "Several secrets", Noisy boxes. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra zify ring.
From Sfumato Require Import exchange.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** A belief p whose odds grow gamma-fold (privacy/growth.py). *)
Definition grown (R : fieldType) (gamma p : R) : R := gamma * p / (1 + (gamma - 1) * p).

(** From odds to belief: that is Bayes' rule. L v is how likely what was seen is if the person has v. *)
Section Odds.
Variables (R : realFieldType) (V : finType) (prior L : V -> R) (gamma : R) (S : {set V}).
Hypothesis prior_ge0 : forall v, 0 <= prior v.
Hypothesis prior_sum : \sum_v prior v = 1.
Hypothesis odds : forall v v', L v <= gamma * L v'.
Let before := \sum_(v in S) prior v.

Lemma growing_gt0 (g p : R) : 0 < g -> 0 <= p <= 1 -> 0 < 1 + (g - 1) * p.
Proof.
move=> g0 /andP[p0 p1]; have -> : 1 + (g - 1) * p = (1 - p) + g * p by ring.
have [->|] := eqVneq p 0; first by rewrite subr0 mulr0 addr0 ltr01.
by rewrite neq_lt ltNge p0 /= => ppos; rewrite ltr_paddl ?subr_ge0 // mulr_gt0.
Qed.

Theorem odds_to_belief : 0 < gamma -> 0 < \sum_v prior v * L v ->
  (\sum_(v in S) prior v * L v) / (\sum_v prior v * L v) <= grown gamma before.
Proof.
move=> g0 some; have b0 : 0 <= before by exact: sumr_ge0.
have after : \sum_(v in ~: S) prior v = 1 - before.
  by rewrite -prior_sum [X in _ = X - _](bigID (mem S)) /= -/before addrAC subrr add0r; apply: eq_bigl => v; rewrite inE.
have b1 : 0 <= 1 - before by rewrite -after sumr_ge0.
have room : 0 < 1 + (gamma - 1) * before by rewrite growing_gt0 // b0 -subr_ge0.
rewrite /grown ler_pdivr_mulr // mulrAC ler_pdivl_mulr //.
have -> : \sum_v prior v * L v = \sum_(v in S) prior v * L v + \sum_(v in ~: S) prior v * L v.
  by rewrite (bigID (mem S)) /=; congr (_ + _); apply: eq_bigl => v; rewrite inE.
set N := \sum_(v in S) _; set M := \sum_(v in ~: S) _.
suff core : N * (1 - before) <= gamma * before * M.
  have -> : N * (1 + (gamma - 1) * before) = N * (1 - before) + gamma * before * N by ring.
  by rewrite [X in _ <= X]mulrDr [X in _ <= X]addrC ler_add2r.
rewrite -after /N /M /before mulr_suml -mulrA mulr_suml mulr_sumr.
apply: ler_sum => v _; rewrite !mulr_sumr; apply: ler_sum => v' _.
have -> : prior v * L v * prior v' = prior v * prior v' * L v by ring.
have -> : gamma * (prior v * (prior v' * L v')) = prior v * prior v' * (gamma * L v') by ring.
by rewrite ler_wpmul2l // mulr_ge0.
Qed.

End Odds.

(** Which gamma keeps which bound: a belief of at most the share f stays at most b. *)
Section Bounds.
Variables (R : realFieldType).
Implicit Types (gamma p f b : R).

Lemma grown_le gamma p f : 0 < gamma -> 0 <= p <= f -> f <= 1 -> grown gamma p <= grown gamma f.
Proof.
move=> g0 /andP[p0 pf] f1; have f0 := le_trans p0 pf; have p1 := le_trans pf f1.
rewrite /grown ler_pdivr_mulr ?growing_gt0 ?p0 // mulrAC ler_pdivl_mulr ?growing_gt0 ?f0 // -subr_ge0.
have -> : gamma * f * (1 + (gamma - 1) * p) - gamma * p * (1 + (gamma - 1) * f) = gamma * (f - p) by ring.
by rewrite mulr_ge0 ?subr_ge0 // ltW.
Qed.

Theorem bound_by_odds gamma p f b : 0 < gamma -> 0 <= p <= f -> f <= 1 -> gamma * (f * (1 - b)) <= b * (1 - f) -> grown gamma p <= b.
Proof.
move=> g0 pf f1 le; apply: le_trans (grown_le g0 pf f1) _; have f0 : 0 <= f by case/andP: pf => /le_trans; apply.
rewrite /grown ler_pdivr_mulr ?growing_gt0 ?f0 // -subr_ge0.
have -> : b * (1 + (gamma - 1) * f) - gamma * f = b * (1 - f) - gamma * (f * (1 - b)) by ring.
by rewrite subr_ge0.
Qed.

(** The models: what the odds may grow to for each model's bound. *)
Corollary l_diversity gamma p f (l : nat) : (1 < l)%N -> 0 < gamma -> 0 <= p <= f -> f <= 1 ->
  gamma * (f * (l.-1)%:R) <= 1 - f -> grown gamma p <= l%:R^-1.
Proof.
move=> l1 g0 pf f1 le; apply: (bound_by_odds g0 pf f1); have l0 : 0 < l%:R :> R by rewrite ltr0n; lia.
rewrite -(ler_pmul2l l0); have -> : l%:R * (gamma * (f * (1 - l%:R^-1))) = gamma * (f * (l.-1)%:R).
  by rewrite -[in RHS]subn1 natrB ?(ltnW l1) //; field; rewrite gt_eqF.
by rewrite [X in _ <= X]mulrA mulfV ?mul1r // gt_eqF.
Qed.

Corollary beta_likeness gamma p f beta : 0 < gamma -> 0 <= p <= f -> f <= 1 ->
  gamma * (1 - (1 + beta) * f) <= (1 + beta) * (1 - f) -> grown gamma p <= (1 + beta) * f.
Proof.
move=> g0 pf f1 le; apply: (bound_by_odds g0 pf f1); have f0 : 0 <= f by case/andP: pf => /le_trans; apply.
have -> : gamma * (f * (1 - (1 + beta) * f)) = f * (gamma * (1 - (1 + beta) * f)) by ring.
have -> : (1 + beta) * f * (1 - f) = f * ((1 + beta) * (1 - f)) by ring.
by rewrite ler_wpmul2l.
Qed.

Corollary rho_privacy gamma p rho1 rho2 : 0 < gamma -> 0 <= p <= rho1 -> rho1 < 1 -> 0 < rho1 -> rho2 < 1 ->
  gamma <= rho2 * (1 - rho1) / (rho1 * (1 - rho2)) -> grown gamma p <= rho2.
Proof.
move=> g0 pf f1 f0 b1 le; apply: (bound_by_odds g0 pf (ltW f1)).
by rewrite -ler_pdivl_mulr // mulr_gt0 // subr_gt0.
Qed.

Corollary f_privacy gamma p f theta offset : 0 < gamma -> 0 <= p <= f -> f <= 1 ->
  gamma * (f * (1 - (theta * f + offset))) <= (theta * f + offset) * (1 - f) ->
  0 <= theta * f + offset -> grown gamma p <= Num.min 1 (theta * f + offset).
Proof.
move=> g0 pf f1 le b0; rewrite le_minr (bound_by_odds g0 pf f1 le) andbT; apply: (bound_by_odds g0 pf f1).
by rewrite subrr mulr0 mulr0 mul1r subr_ge0.
Qed.

Corollary odds_bound gamma odds p f : 0 < gamma -> gamma <= odds -> 0 <= p <= f -> f <= 1 -> grown gamma p <= grown odds f.
Proof.
move=> g0 le pf f1; have f0 : 0 <= f by case/andP: pf => /le_trans; apply.
apply: (bound_by_odds g0 pf f1); have o0 := lt_le_trans g0 le.
have room : 0 < 1 + (odds - 1) * f by rewrite growing_gt0 // f0.
have -> : gamma * (f * (1 - grown odds f)) = f * (1 - f) / (1 + (odds - 1) * f) * gamma by rewrite /grown; field; rewrite gt_eqF.
have -> : grown odds f * (1 - f) = f * (1 - f) / (1 + (odds - 1) * f) * odds by rewrite /grown; field; rewrite gt_eqF.
by rewrite ler_wpmul2l // divr_ge0 ?mulr_ge0 ?subr_ge0 // ltW.
Qed.

End Bounds.

(** The insider, and everybody to whom other people's values are independent of hers. What was seen has some chance in each world,
    which is at most gamma times as large if the person t has something else. *)
Section Insider.
Variables (R : realFieldType) (P V : finType) (t : P).
Notation world := (world P V).
Implicit Types (w : world) (v : V) (gamma : R) (chance : world -> R).

(* The world in which t has v, and everybody else what they have. *)
Definition another (v : V) (w : world) : world := [ffun p => if p == t then v else w p].
Definition moves (gamma : R) (chance : world -> R) := forall v w, chance w <= gamma * chance (another v w).

Lemma anotherK v v' w : w t = v -> another v (another v' w) = w.
Proof. by move=> <-; apply/ffunP=> q; rewrite !ffunE; case: eqP => // ->. Qed.

(* How likely what was seen is with v, whatever others have. *)
Lemma fibre_moves (others chance : world -> R) gamma v v' : (forall w, 0 <= others w) ->
  (forall v w, others (another v w) = others w) -> moves gamma chance ->
  \sum_(w : world | w t == v) others w * chance w <= gamma * \sum_(w : world | w t == v') others w * chance w.
Proof.
move=> others_ge0 independent little.
rewrite mulr_sumr (reindex_onto (another v) (another v')) /=; last by move=> w /eqP; exact: anotherK.
rewrite [X in _ <= X](eq_bigl (fun w : world => (another v w t == v) && (another v' (another v w) == w))).
  apply: ler_sum => w /andP[_ /eqP back]; rewrite independent mulrCA ler_wpmul2l //.
  by rewrite -[X in _ <= gamma * chance X]back little.
move=> w; rewrite !ffunE eqxx /= eqxx /=; apply/eqP/eqP => [wt|<-]; last by rewrite ffunE eqxx.
exact: anotherK.
Qed.

Theorem insider (prior : V -> R) (others chance : world -> R) gamma (S : {set V}) :
  let p w := prior (w t) * (others w * chance w) in let before := \sum_(v in S) prior v in
  (forall v, 0 <= prior v) -> \sum_v prior v = 1 -> (forall w, 0 <= others w) ->
  (forall v w, others (another v w) = others w) -> 0 < gamma -> moves gamma chance ->
  0 < total p -> belief p t S <= grown gamma before.
Proof.
move=> p before prior_ge0 prior_sum others_ge0 independent g0 little.
pose L v := \sum_(w : world | w t == v) others w * chance w.
have hasE A : has p t A = \sum_(v in A) prior v * L v.
  rewrite /has (partition_big (fun w : world => w t) (mem A)) //=; apply: eq_bigr => v vA.
  rewrite mulr_sumr; apply: eq_big => [w|w /andP[_ /eqP<-]] //.
  by case: eqP => [->|_]; rewrite ?andbF ?andbT.
have totalE : total p = \sum_v prior v * L v by rewrite -(has_total p t) hasE; apply: eq_bigl => v; rewrite inE.
rewrite /belief totalE hasE => some; apply: odds_to_belief => // v v'; exact: fibre_moves.
Qed.

(** Two releases, each with its own noise, multiply their factors; so do margins beside boxes, and any number of either. *)
Theorem two_releases gamma gamma' chance chance' : (forall w, 0 <= chance w) -> (forall w, 0 <= chance' w) ->
  moves gamma chance -> moves gamma' chance' -> moves (gamma * gamma') (fun w => chance w * chance' w).
Proof. by move=> c0 c0' m m' v w; rewrite mulrACA; exact: ler_pmul. Qed.

Theorem many_releases (I : Type) (rs : seq I) (gamma : I -> R) (chance : I -> world -> R) : (forall i w, 0 <= chance i w) ->
  (forall i, moves (gamma i) (chance i)) -> moves (\prod_(i <- rs) gamma i) (fun w => \prod_(i <- rs) chance i w).
Proof. by move=> c0 m v w; rewrite -big_split /=; apply: ler_prod => i _; rewrite c0 m. Qed.

(** Whatever is computed from what was seen afterwards, such as which boxes are joined: any of the tables `seen` may be behind it. *)
Theorem computed_afterwards (Y : Type) (seen : seq Y) gamma (chance : Y -> world -> R) :
  (forall y, moves gamma (chance y)) -> moves gamma (fun w => \sum_(y <- seen) chance y w).
Proof. by move=> m v w; rewrite mulr_sumr; apply: ler_sum => y _; exact: m. Qed.

(* ... also if infinitely many are: their chances are as near as one likes to those of finitely many. *)
Theorem limit_moves gamma chance : 0 <= gamma ->
  (forall eps, 0 < eps -> exists near, moves gamma near /\ forall w, `|chance w - near w| <= eps) -> moves gamma chance.
Proof.
move=> g0 approached v w; apply/ler_addgt0Pl => eps eps0.
have d0 : 0 < 1 + gamma by rewrite ltr_spaddl ?ltr01.
have [near [little close]] := approached (eps / (1 + gamma)) (divr_gt0 eps0 d0).
have := close w; have := close (another v w); rewrite !ler_distl => /andP[_ up] /andP[_ le].
apply: le_trans le _; apply: le_trans (ler_add (little v w) (lexx _)) _.
have near_le : near (another v w) <= chance (another v w) + eps / (1 + gamma).
  by have := close (another v w); rewrite distrC ler_distl => /andP[].
apply: le_trans (ler_add (ler_wpmul2l g0 near_le) (lexx _)) _; rewrite mulrDr -addrA addrC ler_add2r.
by rewrite -{2}[eps / _]mul1r -mulrDl addrC mulrCA mulfV ?mulr1 // gt_eqF.
Qed.

End Insider.

(** A rule that looks at a person's own data and tosses coins decides of what she is counted: the factor stays. *)
Section Drawn.
Variables (R : realFieldType) (P V U : finType) (t : P) (draw : P -> V -> U -> R) (chance : world P U -> R) (gamma : R).
Hypothesis draw_ge0 : forall p v u, 0 <= draw p v u.
Hypothesis draw_sum : forall p v, \sum_u draw p v u = 1.
Hypothesis little : moves t gamma chance.

Definition drawn (w : world P V) : R := \sum_(k : world P U) (\prod_p draw p (w p) (k p)) * chance k.

Theorem drawn_moves : moves t gamma drawn.
Proof.
pose rest (w : world P V) (k : world P U) := \prod_(p | p != t) draw p (w p) (k p).
pose F w u := \sum_(k : world P U | k t == u) rest w k * chance k.
have drawnE w : drawn w = \sum_u draw t (w t) u * F w u.
  rewrite /drawn (partition_big (fun k : world P U => k t) xpredT) //=; apply: eq_bigr => u _.
  by rewrite mulr_sumr; apply: eq_bigr => k /eqP <-; rewrite (bigD1 t) //= mulrA.
move=> v w; have same u : F (another t v w) u = F w u.
  apply: eq_bigr => k _; congr (_ * _); apply: eq_bigr => p /negPf pt; by rewrite ffunE pt.
have step u u' : F w u <= gamma * F w u'.
  apply: fibre_moves => // [k|u1 k]; first by apply: prodr_ge0 => p _.
  by apply: eq_bigr => p /negPf pt; rewrite ffunE pt.
rewrite !drawnE; under [X in _ <= _ * X]eq_bigr do rewrite same.
have -> : \sum_u draw t (w t) u * F w u = \sum_u \sum_u' draw t (w t) u * draw t (another t v w t) u' * F w u.
  by apply: eq_bigr => u _; rewrite -mulr_suml -mulr_sumr draw_sum mulr1.
have -> : \sum_u draw t (another t v w t) u * F w u = \sum_u \sum_u' draw t (w t) u * draw t (another t v w t) u' * F w u'.
  by rewrite exchange_big /=; apply: eq_bigr => u _; rewrite -mulr_suml -mulr_suml draw_sum mul1r.
rewrite mulr_sumr; apply: ler_sum => u _; rewrite mulr_sumr; apply: ler_sum => u' _.
by rewrite mulrCA ler_wpmul2l ?mulr_ge0.
Qed.

End Drawn.

Section NoisyBoxes.
Variables (R : realFieldType) (r : R).
Hypothesis r01 : 0 < r < 1.

(** The noise: k with probability (1-r)/(1+r)·r^|k|. *)
Definition noise (k : int) : R := (1 - r) / (1 + r) * r ^+ `|k|%N.

Lemma noise_gt0 k : 0 < noise k.
Proof.
case/andP: r01 => r0 r1; rewrite /noise mulr_gt0 ?exprn_gt0 //.
by rewrite divr_gt0 ?subr_gt0 // addr_gt0 ?ltr01.
Qed.

(* A noisy count is at most 1/r times as likely from a count that is one off. *)
Lemma noise_moves (k k' : int) : `|k - k'| <= 1 -> r * noise k <= noise k'.
Proof.
case/andP: r01 => r0 r1 close; rewrite /noise mulrCA -exprS; apply: ler_wpmul2l.
  by rewrite divr_ge0 ?subr_ge0 ?addr_ge0 ?ltW ?ltr01.
by apply: ler_wiexpn2l; rewrite ?ltW //; lia.
Qed.

(* All of -n..n together have 1 - 2·r^(n+1)/(1+r), which tends to 1. *)
Lemma noise_mass n : noise 0 + \sum_(k < n) (noise k.+1%:Z + noise (- k.+1%:Z)) = 1 - 2%:R * r ^+ n.+1 / (1 + r).
Proof.
have d : 1 + r != 0 by case/andP: r01 => r0 _; rewrite gt_eqF // addr_gt0 ?ltr01.
elim: n => [|n IH]; first by rewrite big_ord0 /noise; field.
by rewrite big_ord_recr /= addrA IH /noise abszN /= !exprS; field.
Qed.

(* People; what they have; boxes, by quasi values and public figures alone; what is counted. *)
Variables (P V K E : finType) (box : P -> K) (event : E -> {set V}) (t : P).
Notation world := (world P V).
Notation another := (another t).
Implicit Types (w : world) (v : V).

Definition counts w (i : K * E) : nat := count [set p | box p == i.1] (event i.2) w.
Definition table := {ffun K * E -> int}.
Definition likelihood (y : table) w : R := \prod_i noise (y i - (counts w i)%:Z).
Definition differ (v v' : V) : {set E} := [set e | (v \in event e) != (v' \in event e)].

Lemma another_counts v w i : i \notin setX [set box t] (differ (w t) v) -> counts (another v w) i = counts w i.
Proof.
case: i => k e; rewrite !inE /= negb_and negbK => off; rewrite /counts; apply: eq_card => p; rewrite !inE ffunE /=.
have [->|//] := eqVneq p t; case: eqP => //= same; case/orP: off => [|/eqP->] //.
by rewrite -same eqxx.
Qed.

Lemma another_moves v w i : `|(counts (another v w) i)%:Z - (counts w i)%:Z| <= 1.
Proof.
rewrite /counts; set B := [set p | _]; have [tB|tB] := boolP (t \in B); last first.
  by rewrite (@eq_count _ _ B _ _ w) ?subrr // => p pB; rewrite ffunE; case: eqP => // pt; rewrite -pt pB in tB.
rewrite !(count_setD1 _ _ tB) (@eq_count _ _ (B :\ t) _ (another v w) w); first by lia.
by move=> p /setD1P[/negPf pt _]; rewrite ffunE pt.
Qed.

Lemma likelihood_ge0 y w : 0 <= likelihood y w.
Proof. by apply: prodr_ge0 => i _; rewrite ltW ?noise_gt0. Qed.

(** With something else d counts of her box differ by one each, and nothing else does. *)
Theorem another_likelihood v w y d : (#|differ (w t) v| <= d)%N -> r ^+ d * likelihood y w <= likelihood y (another v w).
Proof.
case/andP: r01 => r0 r1 few; pose D := setX [set box t] (differ (w t) v).
have cardD : #|D| = #|differ (w t) v| by rewrite cardsX cards1 mul1n.
apply: (@le_trans _ _ (r ^+ #|D| * likelihood y w)).
  by rewrite ler_wpmul2r ?likelihood_ge0 // ler_wiexpn2l ?cardD ?ltW.
have -> : r ^+ #|D| = \prod_i (if i \in D then r else 1) by rewrite -big_mkcond prodr_const.
rewrite /likelihood -big_split /=; apply: ler_prod => i _; case: ifP => inD.
  apply/andP; split; first by apply: mulr_ge0; apply: ltW; rewrite ?noise_gt0.
  by apply: noise_moves; have := another_moves v w i; lia.
by rewrite mul1r another_counts ?lexx ?andbT ?ltW ?noise_gt0 //; rewrite -/D inD.
Qed.

Theorem noisy_moves y d gamma : (forall v v', #|differ v v'| <= d)%N -> (r ^+ d)^-1 <= gamma -> moves t gamma (likelihood y).
Proof.
case/andP: r01 => r0 _ few large v w; have rd : 0 < r ^+ d by exact: exprn_gt0.
apply: le_trans (ler_wpmul2r (likelihood_ge0 _ _) large); rewrite ler_pdivl_mull //; exact: another_likelihood.
Qed.

End NoisyBoxes.

(** How many counts differ: two for one value, two for each of m secrets, 2k for at most k values. *)
Lemma differ_value (V : finType) (v v' : V) : (#|differ (fun x : V => [set x]) v v'| <= 2)%N.
Proof.
apply: leq_trans (subset_leq_card (_ : _ \subset [set v; v'])) _; last by rewrite cards2; case: eqP.
by apply/subsetP=> x; rewrite !inE [x == v]eq_sym [x == v']eq_sym; case: (v == x); case: (v' == x).
Qed.

Definition has_in_column (C X : finType) (i : C * X) : {set {ffun C -> X}} := [set v : {ffun C -> X} | v i.1 == i.2].

Lemma differ_columns (C X : finType) (v v' : {ffun C -> X}) : (#|differ (@has_in_column C X) v v'| <= 2 * #|C|)%N.
Proof.
pose f (c : C) := (c, v c); pose g (c : C) := (c, v' c).
apply: leq_trans (subset_leq_card (_ : _ \subset (f @: setT) :|: (g @: setT))) _.
  apply/subsetP=> -[c x]; rewrite !inE /= => differs; apply/orP.
  have [e|] := eqVneq (v c) x; first by left; apply/imsetP; exists c; rewrite ?inE // /f e.
  move: differs => + /negPf no; rewrite no; have [e|//] := eqVneq (v' c) x.
  by right; apply/imsetP; exists c; rewrite ?inE // /g e.
apply: leq_trans (leq_card_setU _ _) _; rewrite mul2n -addnn; apply: leq_add; apply: leq_trans (leq_imset_card _ _) _;
  by rewrite cardsT.
Qed.

Definition bundle (X : finType) (k : nat) := {A : {set X} | (#|A| <= k)%N}.
Definition has_value (X : finType) k (x : X) : {set bundle X k} := [set A : bundle X k | x \in val A].

Lemma differ_bundle (X : finType) k (A A' : bundle X k) : (#|differ (@has_value X k) A A'| <= 2 * k)%N.
Proof.
apply: leq_trans (subset_leq_card (_ : _ \subset val A :|: val A')) _.
  by apply/subsetP=> x; rewrite !inE; do 2 case: (_ \in _).
by apply: leq_trans (leq_card_setU _ _) _; rewrite mul2n -addnn; apply: leq_add; [exact: (valP A)|exact: (valP A')].
Qed.
