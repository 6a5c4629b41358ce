import { describe, expect, test } from 'vitest';
import { ruleFrom, rulesOption } from '../../src/cli/rule-option.ts';

describe('rules with options', () => {
  test.each<readonly [string, object]>([
    ['agent-q', [{ name: 'agent-q', options: {} }]],
    [
      'math-shepherd:from=evaluation,paths=leaves, prompts',
      [
        { name: 'math-shepherd', options: { from: 'evaluation', paths: 'leaves' } },
        { name: 'prompts', options: {} },
      ],
    ],
    [
      'agent-q:perDepth=2,requireRight=true,alpha=0.25',
      [{ name: 'agent-q', options: { perDepth: 2, requireRight: true, alpha: 0.25 } }],
    ],
    [
      'omega-prm:paths={"best":2},delimiter=\\n\\n',
      [{ name: 'omega-prm', options: { paths: { best: 2 }, delimiter: '\n\n' } }],
    ],
    [
      'omega-prm:delimiter=", ",from=ends',
      [{ name: 'omega-prm', options: { delimiter: ', ', from: 'ends' } }],
    ],
    [
      'tree-advantages:estimators=["grpo","local"],omega=1',
      [{ name: 'tree-advantages', options: { estimators: ['grpo', 'local'], omega: 1 } }],
    ],
    ['math-shepherd:delimiter=a:b', [{ name: 'math-shepherd', options: { delimiter: 'a:b' } }]],
  ])('reads %s', (text, rules) => {
    expect(rulesOption(text)).toEqual(rules);
    expect(rulesOption(text, [{ name: 'groups', options: {} }])).toHaveLength(
      rulesOption(text).length + 1,
    );
  });

  test.each<readonly [string, string]>([
    [
      'math-shepherd:form=ends',
      '`--rule math-shepherd`: `mathShepherd` has no option `form`. Did you mean `from`?',
    ],
    ['agent-q:alpha=2', '`--rule agent-q`: Expected `alpha` to be '],
    ['agent-q:perDepth=0', '`--rule agent-q`: Expected `perDepth` to be '],
    ['agent-q:requireRight=yes', '`--rule agent-q`: Expected `requireRight` to be true or false'],
    ['unpaired-ends:maxRatio=half', '`--rule unpaired-ends`: Expected `maxRatio` to be '],
    ['unpaired-siblings:score=q', '`--rule unpaired-siblings`: Expected `score` to be a function'],
    ['omega-prm:delimiter=2', '`--rule omega-prm`: Expected `delimiter` to be a text'],
  ])('the rule of %s says what is wrong', (text, message) => {
    const [rule] = rulesOption(text);
    if (rule === undefined) throw new Error('Expected a rule.');
    expect(() => ruleFrom(rule, {})).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: expect.stringContaining(message) as string,
      }),
    );
  });

  test('its own options go before the usual ones', () => {
    const rule = ruleFrom({ name: 'agent-q', options: { minMargin: 0.3 } }, { minMargin: 0.1 });
    expect(rule.options).toEqual({ minMargin: 0.3 });
  });
});

describe('what is no rule', () => {
  test.each([
    ['from=ends', /Expected `--rule` to be rules such as/],
    [
      'math-sheperd',
      /^Unknown value `"math-sheperd"` of `--rule`\. Did you mean `math-shepherd`\?$/,
    ],
    ['nothing-of-the-kind', /Expected `--rule` to be 'agent-q' or /],
    ['', /Expected `--rule` to be rules such as/],
    ['agent-q:', /Expected `--rule` to be rules such as/],
    ['agent-q:alpha=1,alpha=0', /^`--rule agent-q` has the option `alpha` twice\.$/],
    ['agent-q:alpha', /Expected `--rule` to be rules such as/],
  ])('refuses %s', (text, message) => {
    expect(() => rulesOption(text)).toThrow(message);
  });
});
