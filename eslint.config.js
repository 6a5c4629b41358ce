import tseslint from 'typescript-eslint';

// Biome formats and lints; ESLint holds only the rules that need types.
// biome-ignore lint/style/noDefaultExport: eslint reads the default export
export default tseslint.config(
  { ignores: ['dist/', 'site/', 'coverage/', '.tmp/'] },
  {
    files: ['**/*.ts'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      // As the default of a type parameter `any` is what inference leaves open. Biome knows no such exception.
      'no-restricted-syntax': [
        'error',
        {
          selector: ':not(TSTypeParameter) > TSAnyKeyword',
          message: 'Expected a type other than any.',
        },
      ],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-unnecessary-condition': 'error',
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/prefer-readonly': 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
    },
  },
);
